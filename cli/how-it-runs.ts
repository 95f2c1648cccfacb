import { SvcError } from '../services/contracts/errors.ts';
import type { Engine, Graph, Topology } from '../stack/definition/definition.ts';

/** What was said about how a platform runs. */
export interface Chosen {
  readonly topology?: Topology | undefined;
  readonly graph?: Graph | undefined;
  readonly engine?: Engine | undefined;
}

/** One of the choices, or nothing where nothing was typed. */
export function choice<Choice extends string>(
  flag: string,
  typed: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const chosen = choices.find((one) => one === typed);
  if (typed === undefined || chosen !== undefined) return chosen;
  throw new SvcError('invalid_input', `${flag} must be ${choices.join(' or ')}, not "${typed}".`);
}

/** Names what this version does not know. Between containers and anything else nothing is moved yet. */
export function refuseUnbuilt({ graph, engine }: Chosen, command: 'init' | 'move --to distributed'): void {
  const isUnknownEngine = engine === 'docker' && command !== 'init';
  const wanted = graph === 'dgraph' ? 'The graph dgraph' : isUnknownEngine ? 'A move to the docker engine' : null;
  if (wanted === null) return;
  throw new SvcError('unsupported', `${wanted} is not part of this version.`, {
    hint: `Such as: svc ${command} --graph sqlite --engine process`,
  });
}
