import { checkNatsServer } from './bus/nats-server.ts';
import type { Definition } from './definition/definition.ts';
import { checkFront } from './front/check-front.ts';

/** Refuses, before anything is started, what svc.yaml asks for and no program on the path can be. Containers bring their own. */
export async function checkPrograms(definition: Definition, path: string | undefined): Promise<void> {
  if (definition.engine === 'docker') return;
  await checkNatsServer(definition, path);
  await checkFront(definition, path);
}
