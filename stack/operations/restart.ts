import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { PartNames, Prepared } from '../engines/engine.ts';
import type { Plan } from '../plan/plan.ts';

/** The parts with these names. The name of a service means all its processes. */
export function partsNamed(given: readonly string[] | 'all', { parts }: Pick<Plan, 'parts'>): PartNames {
  if (given === 'all') return new Set(parts.map(({ name }) => name));
  return new Set(given.flatMap((word) => partsOf(word, parts)));
}

function partsOf(word: string, parts: Plan['parts']): readonly string[] {
  const names = parts.filter(({ name, service }) => name === word || service === word).map(({ name }) => name);
  if (names.length > 0) return names;
  const existing = [...new Set(parts.flatMap(({ name, service }) => [name, service]))];
  const meant = nearest(word, existing);
  throw new SvcError('not_found', `There is no service "${word}".`, {
    hint: meant === null ? `There are: ${existing.join(', ')}.` : `Did you mean "${meant}"?`,
  });
}

/** A restart of some services must not change others, which a person did not name. */
export function refuseOtherChanges({ changes }: Pick<Prepared, 'changes'>, names: PartNames): void {
  if (names.size === 0) return;
  const others = (changes ?? []).filter((line) => ![...names].some((name) => line.startsWith(`${name} `)));
  if (others.length === 0) return;
  throw new SvcError('conflict', `svc.yaml has changes that concern more than these services: ${others.join(', ')}.`, {
    hint: 'Apply them: svc up',
  });
}
