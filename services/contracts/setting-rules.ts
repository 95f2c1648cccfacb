export type SettingsField = 'env' | 'headers';

export interface LaunchProblem {
  /** The part of the launch with the problem. */
  readonly path: readonly (string | number)[];
  /** Never repeats the value of a variable or a header, which may be secret. */
  readonly message: string;
}

export interface SettingRules {
  readonly isName: (name: string) => boolean;
  readonly rule: string;
  readonly isValue: (value: string) => boolean;
  /** Equal for names that mean the same. */
  readonly keyOf: (name: string) => string;
}

export const settingRules: { readonly [Field in SettingsField]: SettingRules } = {
  env: {
    isName: (name) => /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name),
    rule: 'letters, digits and _, not starting with a digit',
    // Half a character has no form in UTF-8, and would be stored as another one.
    isValue: (value) => !value.includes('\0') && value.isWellFormed(),
    keyOf: (name) => name,
  },
  headers: {
    // RFC 9110 §5.6.2: a token.
    isName: (name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,255}$/.test(name),
    rule: 'a header name of RFC 9110',
    // Visible text, spaces and tabs (RFC 9110 §5.5).
    isValue: (value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
    // Header names are the same in any case (RFC 9110 §5.1).
    keyOf: (name) => name.toLowerCase(),
  },
};

/** The name under which a setting is stored, equal for names that mean the same. */
export function settingKey(field: SettingsField, name: string): string {
  return settingRules[field].keyOf(name);
}

/** Why a setting may not have this name, or null. */
export function problemOfSettingName(field: SettingsField, name: string): string | null {
  const { isName, rule } = settingRules[field];
  if (!isName(name)) return `"${name.slice(0, 80)}" in "${field}" is not a valid name: it must be ${rule}`;
  // Objects lose a member of this name on their way.
  if (name === '__proto__') return `"${name}" in "${field}" is reserved: choose another name`;
  if (field === 'env' || !isTransportHeader(name)) return null;
  return `"${name}" in "headers" belongs to the connection: the runtime sets it, so leave it out`;
}

/**
 * Headers of the connection and of proxies (RFC 9110 §7.6.1, §11.7), and headers that decide where a request ends or to
 * which host it goes. The transport sets them; a second value would make one request look like two.
 */
export function isTransportHeader(name: string): boolean {
  const key = name.toLowerCase();
  return key.startsWith('proxy-') || transportHeaders.includes(key);
}

const transportHeaders = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'keep-alive', 'expect'],
  ...['http2-settings', 'alt-used'],
];
