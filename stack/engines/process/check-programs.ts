import { SvcError } from '../../../services/contracts/errors.ts';
import { checkNatsServer } from '../../bus/check-bus.ts';
import { checkDgraphProgram } from '../../graph/check-graph.ts';
import type { Definition } from '../../settings/definition.ts';
import { checkSandbox } from '../sandbox/check-sandbox.ts';
import { checkFront } from './check-front.ts';

/**
 * Refuses missing and too old programs before anything starts. Names all of them at once, so that the operator installs them together.
 * Returns what the operator should know about the others.
 */
export async function checkPrograms(definition: Definition, path: string | undefined): Promise<readonly string[]> {
  const checks = [
    checkNatsServer(definition, path),
    checkFront(definition, path),
    checkSandbox(definition, path),
    checkDgraphProgram(definition, path),
  ] as const;
  const outcomes = await Promise.allSettled(checks);
  const refused = outcomes.flatMap((outcome): unknown[] => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (refused.length > 1) throw together(refused);
  const [, , aboutSandbox, aboutDgraph] = await Promise.all(checks);
  return [...aboutSandbox, ...aboutDgraph];
}

/** The error has the code of the first refusal. A bug is thrown instead of a refusal. */
function together(refused: readonly unknown[]): unknown {
  const expected = refused.filter((one) => one instanceof SvcError);
  const [first] = expected;
  if (first === undefined || expected.length < refused.length) return refused.find((one) => !(one instanceof SvcError));
  const hint = expected.flatMap((one) => one.hint ?? []).join('\n');
  return new SvcError(first.code, expected.map(({ message }) => message).join('\n'), { hint });
}
