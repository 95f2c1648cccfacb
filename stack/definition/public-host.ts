import { type Field, field, matching } from './field.ts';

export const publicHost: Field<string> = field('a name such as agents.example.com, in small letters', (raw) =>
  typeof raw === 'string' && raw.length <= 253 && /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(raw) ? raw : null,
);

// They stand in the configuration of Caddy, where these characters mean something.
export const pemPath = matching(
  /^[^"`\\{}\r\n]{1,4096}$/,
  'the path of a PEM file, without quotes, braces and backslashes',
);
export const acmeDirectory: Field<string> = field('an https address without quotes and braces', (raw) =>
  typeof raw === 'string' && /^https:\/\/[^\s"`\\{}]{1,2000}$/.test(raw) && URL.canParse(raw) ? raw : null,
);
