import { SvcError } from '../services/contracts/errors.ts';
import type { Engine, Graph, Topology } from '../stack/settings/choices.ts';

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

/** Names what does not go together, before it stands in a file. */
export function refuseMismatch({ topology, graph }: Chosen): void {
  if (graph !== 'dgraph' || topology === 'distributed') return;
  throw new SvcError(
    'invalid_input',
    '--graph dgraph needs --topology distributed: topology embedded keeps its data in SQLite.',
    { hint: 'Such as: svc init --topology distributed --graph dgraph --engine process' },
  );
}
