import { z } from 'zod';
import type { Variable } from '../../services/contracts/env/variable.ts';

/** Rules of settings. The description of each follows "must be". */

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const listMax = 1000;

export function wholeNumber(min: number, max: number) {
  return z.int().min(min).max(max).describe(`a whole number from ${min} to ${max}`);
}

/** A number is accepted as text, because YAML reads a name such as 42 as a number. */
export function matching(pattern: RegExp, words: string) {
  return scalar.transform(String).pipe(z.string().regex(pattern)).describe(words);
}

export function textThat(words: string, isRight: (text: string) => boolean) {
  return z.string().refine(isRight).describe(words);
}

/** A DNS name in the form in which URLs have it. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(text);
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]) {
  return z.enum(choices).describe(`one of ${choices.join(', ')}`);
}

export function trueOrFalse() {
  return z.boolean().describe('true or false');
}

export function listOf<Value>(item: z.ZodType<Value>, words: string): z.ZodType<readonly Value[]> {
  return z.array(item).max(listMax).describe(words);
}

export function orAuto<Value>(rule: z.ZodType<Value>): z.ZodType<Value | 'auto'> {
  return z.union([z.literal('auto'), rule]).describe(`auto, or ${rule.description}`);
}

/** A setting that may be null: its value is then `undefined`. */
export function optional<Value>(rule: z.ZodType<Value>): z.ZodType<Value | undefined> {
  return z.union([z.null().transform(() => undefined), rule]).describe(`${rule.description}, or null`);
}

/** Fields under known names. Its error is the rule; about an unknown name, it is the list of the known ones. */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape, rule: string) {
  const known = Object.keys(shape).join(fieldSeparator);
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : rule) });
}

export const fieldSeparator = ', ';

/** The rule of an environment variable, for a setting that becomes that variable. */
export function like<Value>(variable: Variable<Value>): z.ZodType<Value> {
  const rule = scalar.transform((raw, context): Value => {
    const value = variable.parse(String(raw));
    if (value !== null) return value;
    context.addIssue({ code: 'custom' });
    return z.NEVER;
  });
  return rule.describe(variable.rule);
}

/** As `like`, for a variable whose text is passed on unchanged. */
export function likeText(variable: Variable<unknown>): z.ZodType<string> {
  const rule = scalar.transform(String).refine((text) => variable.parse(text) !== null);
  return rule.describe(variable.rule);
}

export function isScalar(raw: unknown): raw is string | number | boolean {
  return scalar.safeParse(raw).success;
}
