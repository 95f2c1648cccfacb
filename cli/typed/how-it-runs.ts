import { SvcError } from '../../services/contracts/errors.ts';
import type { Engine, Graph, Topology } from '../../stack/settings/choices.ts';

/** The flags that choose how a platform runs. */
export interface Chosen {
  readonly topology?: Topology | undefined;
  readonly graph?: Graph | undefined;
  readonly engine?: Engine | undefined;
}

/** One of the choices, or undefined without the flag. */
export function choice<Choice extends string>(
  flag: string,
  typed: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const chosen = choices.find((one) => one === typed);
  if (typed === undefined || chosen !== undefined) return chosen;
  throw new SvcError('invalid_input', `${flag} must be ${choices.join(' or ')}, not "${typed}".`);
}

/** Refuses a combination that does not work, before it is written to svc.yaml. */
export function refuseMismatch({ topology, graph }: Chosen): void {
  if (graph !== 'dgraph' || topology === 'distributed') return;
  throw new SvcError(
    'invalid_input',
    '--graph dgraph needs --topology distributed: topology embedded keeps its data in SQLite.',
    { hint: 'Such as: svc init --topology distributed --graph dgraph --engine process' },
  );
}
