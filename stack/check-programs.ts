import { checkNatsServer } from './bus/nats-server.ts';
import type { Definition } from './definition/definition.ts';
import { checkFront } from './front/check-front.ts';
import { checkDgraphProgram } from './graph/dgraph-program.ts';
import { checkSandbox } from './sandbox/check-sandbox.ts';

/**
 * Refuses, before anything is started, what svc.yaml asks for and no program on the path can be. Returns what the operator should know of
 * those that are there. Containers bring their own.
 */
export async function checkPrograms(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  if (definition.engine === 'docker') return [];
  const checks = [
    checkNatsServer(definition, path),
    checkFront(definition, path),
    checkSandbox(definition, path),
    checkDgraphProgram(definition, path),
  ] as const;
  // Of several that refuse the first is told, whichever was done first.
  await Promise.allSettled(checks);
  const [, , aboutSandbox, aboutDgraph] = await Promise.all(checks);
  return [...aboutSandbox, ...aboutDgraph];
}
