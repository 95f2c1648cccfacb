import { SvcError } from '../../services/contracts/errors.ts';
import type { Terminal } from '../output/terminal.ts';

/** Throws when an update names nothing to change. `flags` are the values of its own flags by name. */
export function requireChange(flags: Readonly<Record<string, unknown>>): void {
  if (Object.values(flags).some((value) => value !== undefined && value !== false)) return;
  const names = Object.keys(flags).map((name) => `--${name}`);
  throw new SvcError('invalid_input', 'The command names nothing to change.', {
    hint: `Add one of ${names.join(', ')}.`,
  });
}

export interface Changed {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** The names of the changed fields. */
  readonly changed: readonly string[];
}

/** Prints the result of an update. */
export function tellChanged(terminal: Terminal, { kind, id, name, changed }: Changed): void {
  terminal.json({ id, name, changed });
  terminal.result(
    changed.length === 0
      ? `Nothing to change: the ${kind} ${name} is like that already.`
      : `Changed ${kind} ${name}: ${changed.join(', ')}.`,
  );
}

/** The fields whose new value is given and differs. */
export function fieldsThatDiffer(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(after).filter((name) => {
    const value = after[name];
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name]);
  });
}

export interface SetChange {
  /** Replaces the complete set. */
  readonly replace: readonly string[] | undefined;
  readonly add: readonly string[] | undefined;
  readonly remove: readonly string[] | undefined;
}

/** The set after a change, in order; undefined if the change leaves it alone. `refuse` is called for an entry that is not in the set. */
export function changedSet(
  before: readonly string[],
  { replace, add, remove }: SetChange,
  refuse: (absent: string) => SvcError,
): readonly string[] | undefined {
  if (replace === undefined && add === undefined && remove === undefined) return undefined;
  const absent = (remove ?? []).find((one) => !before.includes(one));
  if (absent !== undefined) throw refuse(absent);
  const kept = new Set(replace ?? before).difference(new Set(remove ?? []));
  return [...kept.union(new Set(add ?? []))].sort();
}
