import { type LaunchProblem, problemOfSettingName, type SettingsField, settingKey } from './setting-rules.ts';
import { isShownName, shownLine } from './shown-text.ts';

/** A variable or header that an MCP server uses, declared beside its launch, with or without a value there. */
export interface DeclaredSetting {
  readonly name: string;
  /** What people read in place of the name. Empty: the name. */
  readonly title: string;
  readonly description: string;
  /** Its value is never shown. */
  readonly secret: boolean;
  /** Without a value, the MCP server is not started. */
  readonly required: boolean;
}

export interface DeclaredSettingInput {
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  /** Absent or null: true. */
  readonly secret?: boolean | null | undefined;
  /** Absent or null: true. */
  readonly required?: boolean | null | undefined;
}

/** More than a person fills in. */
export const declaredSettingsMax = 32;
export const settingTitleLengthMax = 80;
export const settingDescriptionLengthMax = 300;

/** The declarations in their stored form. `findDeclaredProblems` has found none in them. */
export function declaredSettings(
  field: SettingsField,
  given: readonly DeclaredSettingInput[],
): readonly DeclaredSetting[] {
  return given.map(({ name, title, description, secret, required }) => ({
    name: settingKey(field, name),
    title: (title ?? '').trim(),
    description: (description ?? '').trim(),
    secret: secret ?? true,
    required: required ?? true,
  }));
}

export function findDeclaredProblems(
  field: SettingsField,
  given: readonly DeclaredSettingInput[],
): readonly LaunchProblem[] {
  if (given.length > declaredSettingsMax) {
    const message = `"settings" holds ${given.length}: it may hold ${declaredSettingsMax} at most`;
    return [{ path: ['settings'], message }];
  }
  const keys = given.map(({ name }) => settingKey(field, name));
  return given.flatMap((setting, at) => {
    const { name, title, description } = setting;
    const isRepeated = keys.indexOf(settingKey(field, name)) !== at;
    const messages = [
      problemOfSettingName(field, name),
      isRepeated ? `"${name.slice(0, 80)}" is in "settings" twice` : null,
      isLine(title ?? '', settingTitleLengthMax) ? null : textProblem(name, 'title', settingTitleLengthMax),
      isLine(description ?? '', settingDescriptionLengthMax)
        ? null
        : textProblem(name, 'description', settingDescriptionLengthMax),
    ];
    return messages.flatMap((message) => (message === null ? [] : [{ path: ['settings', name], message }]));
  });
}

/** People decide by these texts where a secret goes, so they hide nothing. */
function isLine(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && isShownName(text) && shownLine(text, lengthMax) === text;
}

function textProblem(name: string, part: string, lengthMax: number): string {
  return `the ${part} of "${name.slice(0, 80)}" in "settings" must be one line of ${lengthMax} visible characters at most`;
}

/** The required settings without a value, in the order of their declaration. */
export function missingSettings(
  declared: readonly DeclaredSetting[],
  values: Readonly<Record<string, string>>,
): readonly string[] {
  return declared.filter(({ name, required }) => required && !hasValue(values, name)).map(({ name }) => name);
}

/** An empty value counts as none. Of an object that a caller filled, only its own members are values. */
export function hasValue(values: Readonly<Record<string, string>>, name: string): boolean {
  return Object.hasOwn(values, name) && values[name] !== '';
}
