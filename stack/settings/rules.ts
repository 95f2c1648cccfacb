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

/** The rule of an environment variable, for a setting that becomes that variable. */
export function like<Value>(variable: Variable<Value>): z.ZodType<Value> {
  return byVariable(variable, (_, value) => value);
}

/** As `like`, for a variable whose text is passed on unchanged. */
export function likeText(variable: Variable<unknown>): z.ZodType<string> {
  return byVariable(variable, (text) => text);
}

function byVariable<Value, Result>(variable: Variable<Value>, choose: (text: string, value: Value) => Result) {
  const rule = scalar.transform((raw, context): Result => {
    const text = String(raw);
    const value = variable.parse(text);
    if (value !== null) return choose(text, value);
    context.addIssue({ code: 'custom' });
    return z.NEVER;
  });
  return rule.describe(variable.rule);
}

export function isScalar(raw: unknown): raw is string | number | boolean {
  return scalar.safeParse(raw).success;
}
