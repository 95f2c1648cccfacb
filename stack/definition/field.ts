import type { Variable } from '../../services/contracts/env/variable.ts';
import type { Path } from '../yaml-text.ts';

/** One field of svc.yaml: the rule its value must keep, and how it becomes a precise value. Its default and meaning are in the template. */
export interface Field<Value> {
  /** In words that follow "must be". */
  readonly rule: string;
  /** Null where the value breaks the rule. */
  readonly parse: (raw: unknown) => Value | null;
  /** For a field with parts of its own: what is wrong with which part, in more words than the rule. */
  readonly complaints?: (raw: unknown) => readonly Complaint[];
}

export interface Complaint {
  /** Below the field. */
  readonly path: Path;
  readonly message: string;
  /** The name of the part is wrong, not its value. */
  readonly aboutName?: boolean;
}

/** Fields by name, nested as in the file. */
export interface Shape {
  readonly [name: string]: Shape | Field<unknown>;
}

/** What a file with this shape says, once it is checked. */
export type ValueOf<Part> =
  Part extends Field<infer Value> ? Value : { readonly [Name in keyof Part]: ValueOf<Part[Name]> };

export function isField(part: Shape | Field<unknown>): part is Field<unknown> {
  return typeof part.parse === 'function';
}

export function field<Value>(rule: string, parse: (raw: unknown) => Value | null): Field<Value> {
  return { rule, parse };
}

/** The rule of an environment variable, for a field that becomes that variable. */
export function like<Value>(variable: Variable<Value>): Field<Value> {
  return field(variable.rule, (raw) => (isScalar(raw) ? variable.parse(String(raw)) : null));
}

/** As `like`, for a variable whose text is passed on as it was written. */
export function likeText(variable: Variable<unknown>): Field<string> {
  return field(variable.rule, (raw) => (isScalar(raw) && variable.parse(String(raw)) !== null ? String(raw) : null));
}

export function wholeNumber(min: number, max: number): Field<number> {
  return field(`a whole number from ${min} to ${max}`, (raw) =>
    typeof raw === 'number' && Number.isInteger(raw) && raw >= min && raw <= max ? raw : null,
  );
}

export function matching(pattern: RegExp, rule: string): Field<string> {
  return field(rule, (raw) => (isScalar(raw) && pattern.test(String(raw)) ? String(raw) : null));
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): Field<Choice> {
  return field(`one of ${choices.join(', ')}`, (raw) => choices.find((choice) => choice === raw) ?? null);
}

export function trueOrFalse(): Field<boolean> {
  return field('true or false', (raw) => (typeof raw === 'boolean' ? raw : null));
}

export function orAuto<Value>(inner: Field<Value>): Field<Value | 'auto'> {
  const parse = (raw: unknown) => (raw === 'auto' ? raw : inner.parse(raw));
  return { ...inner, rule: `auto, or ${inner.rule}`, parse };
}

/** A field that may be left open: it is then `undefined`, because null says that a rule was broken. */
export function optional<Value>(inner: Field<Value>): Field<Value | undefined> {
  return { rule: `${inner.rule}, or null`, parse: (raw) => (raw === null ? undefined : inner.parse(raw)) };
}

export function listOf<Value>(inner: Field<Value>, rule: string): Field<readonly Value[]> {
  return field(rule, (raw) => {
    if (!Array.isArray(raw) || raw.length > listMax) return null;
    const items = raw.map((item: unknown) => inner.parse(item));
    return items.every((item) => item !== null) ? items : null;
  });
}

const listMax = 1000;

export function isScalar(raw: unknown): raw is string | number | boolean {
  return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean';
}
