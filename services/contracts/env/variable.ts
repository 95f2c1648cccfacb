import { type AddressBlock, parseAddressBlock } from '../address-block.ts';
import { Secret } from '../secret.ts';

/** One environment variable: its meaning, default and parser. */
export interface Variable<Value> {
  readonly meaning: string;
  /** The rule for values, in words that follow "must be". */
  readonly rule: string;
  /** The text used when the variable is not set. */
  readonly default?: string;
  readonly required?: true;
  /** A secret is never printed and has a `_FILE` twin that names a file with the secret. */
  readonly secret?: true;
  /** The feature that will read the variable. Until then it is checked, and a set value is reported. */
  readonly awaits?: string;
  /** The variable has an effect only when these other variables have one of these values; otherwise it is reported. */
  readonly onlyWith?: Readonly<Record<string, readonly string[]>>;
  /** Values of older versions: how each is read now, and the warning. */
  readonly formerly?: Readonly<Record<string, { readonly as: string; readonly told: string }>>;
  /** `additions` are the platform's own; all others are in part 8 of the specification. */
  readonly source: 'specification' | 'additions';
  /** Returns null when the text breaks the rule. */
  readonly parse: (text: string) => Value | null;
}

export interface Problem {
  readonly variable: string;
  readonly rule: string;
  readonly repair: string;
}

interface Options {
  readonly meaning: string;
  readonly default?: string;
  readonly required?: true;
  readonly awaits?: string;
  readonly onlyWith?: Readonly<Record<string, readonly string[]>>;
  readonly formerly?: Readonly<Record<string, { readonly as: string; readonly told: string }>>;
  readonly source?: 'additions';
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** The options stay in the type, so that a variable with a default, or a required one, is known to have a value. */
function variable<Value, Given extends Options>(
  rule: string,
  parse: (text: string) => Value | null,
  options: Given,
): Variable<Value> & Given {
  return { rule, parse, ...options, source: options.source ?? 'specification' };
}

export function text<Given extends Options & { lengthMax?: number }>(options: Given): Variable<string> & Given {
  const lengthMax = options.lengthMax ?? 1024;
  return variable(`a text of 1 to ${lengthMax} characters`, (raw) => (raw.length <= lengthMax ? raw : null), options);
}

export function integer<Given extends Options & Range>(options: Given): Variable<number> & Given {
  const { min, max } = options;
  return variable(
    `a whole number from ${min} to ${max}`,
    (raw) => {
      const number = /^\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
      return number >= min && number <= max ? number : null;
    },
    options,
  );
}

/** Port 0 means any free port, so that installations and tests can run side by side. */
export function port<Given extends Options>(options: Given): Variable<number> & Given {
  return integer({ ...options, min: 0, max: 65535 });
}

export function boolean<Given extends Options>(options: Given): Variable<boolean> & Given {
  return variable('true or false', (raw) => (raw === 'true' ? true : raw === 'false' ? false : null), options);
}

export function choice<const Choice extends string, Given extends Options>(
  options: Given & { choices: readonly Choice[] },
): Variable<Choice> & Given {
  const rule = `one of ${options.choices.join(', ')}`;
  return variable(rule, (raw) => options.choices.find((candidate) => candidate === raw) ?? null, options);
}

export function url<Given extends Options>(options: Given): Variable<string> & Given {
  return variable(
    'a full http or https URL, with scheme and without user, query or fragment',
    (raw) => (isPlainUrl(raw) ? raw.replace(/\/+$/, '') : null),
    options,
  );
}

/** The issuer of tokens: another text, even with a slash more, is another issuer. */
export function issuer<Given extends Options>(options: Given): Variable<string> & Given {
  return variable(
    'a full http or https URL, with scheme and without user, query or fragment',
    (raw) => (isPlainUrl(raw) ? raw : null),
    options,
  );
}

/** Browser origins: scheme, host and port, nothing else. */
export function origins<Given extends Options>(options: Given): Variable<readonly string[]> & Given {
  return variable(
    'a comma-separated list of origins such as https://app.example.com, without a path',
    (raw) => listOf(raw, ',', (item) => (URL.canParse(item) && new URL(item).origin === item ? item : null)),
    options,
  );
}

export function paths<Given extends Options>(options: Given): Variable<readonly string[]> & Given {
  return variable(
    'a colon-separated list of absolute paths',
    (raw) => listOf(raw, ':', (item) => (item.startsWith('/') ? item : null)),
    options,
  );
}

/** Address of the bus: `inproc:` for the one inside the process, else host:port, several separated by commas. */
export function busServers<Given extends Options>(options: Given): Variable<readonly string[]> & Given {
  return variable(
    'inproc: or a comma-separated list of host:port',
    (raw) => {
      const servers = raw === 'inproc:' ? [raw] : listOf(raw, ',', (item) => (isBusServer(item) ? item : null));
      return servers?.length === 0 ? null : servers;
    },
    options,
  );
}

/** Address of the graph: `file:` and a path for the embedded engine, else Dgraph's host:port or URL. */
export function graphAddress<Given extends Options>(options: Given): Variable<string> & Given {
  return variable(
    'file:/absolute/path for the embedded engine, or host:port of Dgraph',
    (raw) => (/^file:\/./.test(raw) || isHostAndPort(raw, /^https?:\/\//) ? raw : null),
    options,
  );
}

/** Hosts with their ports, IPv6 in brackets. */
export function addresses<Given extends Options>(options: Given): Variable<readonly string[]> & Given {
  const isAddress = (raw: string) => /:\d+$/.test(raw) && isHostAndPort(raw, /^(?!)/);
  return variable(
    'a comma-separated list of host:port',
    (raw) => {
      const listed = listOf(raw, ',', (item) => (isAddress(item) ? item : null));
      return listed?.length === 0 ? null : listed;
    },
    options,
  );
}

/** IP addresses and blocks of them. */
export function addressBlocks<Given extends Options>(options: Given): Variable<readonly AddressBlock[]> & Given {
  return variable(
    'a comma-separated list of IP addresses and blocks such as 192.168.1.20,10.0.0.0/8',
    (raw) => listOf(raw, ',', parseAddressBlock),
    options,
  );
}

export function levels<Given extends Options>(options: Given): Variable<readonly LogRule[]> & Given {
  return variable(
    'a comma-separated list of <pattern>=<level>, with a level of trace, debug, info, warn or error',
    (raw) =>
      listOf(raw, ',', (item) => {
        const [, pattern, name] = /^([A-Za-z0-9_.*-]{1,80})=([a-z]+)$/.exec(item) ?? [];
        const level = logLevels.find((candidate) => candidate === name);
        return pattern !== undefined && level !== undefined ? { pattern, level } : null;
      }),
    options,
  );
}

export function secret<Given extends Options & { pattern: RegExp; rule: string }>(
  options: Given,
): Variable<Secret> & Given & { readonly secret: true } {
  return {
    ...variable(options.rule, (raw) => (options.pattern.test(raw) ? new Secret(raw) : null), options),
    secret: true,
  };
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export interface LogRule {
  readonly pattern: string;
  readonly level: LogLevel;
}

function isBusServer(raw: string): boolean {
  return isHostAndPort(raw, /^(nats|tls):\/\//);
}

/** A host name or address (IPv6 in brackets), with or without a port and a scheme. */
function isHostAndPort(raw: string, scheme: RegExp): boolean {
  const rest = raw.replace(scheme, '');
  if (!/^([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(:\d+)?$/.test(rest)) return false;
  return URL.canParse(`http://${rest}`);
}

function isPlainUrl(raw: string): boolean {
  if (!URL.canParse(raw)) return false;
  const parsed = new URL(raw);
  const web = parsed.protocol === 'http:' || parsed.protocol === 'https:';
  return web && parsed.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
}

/** A longer list is a mistake, and must not be cut short. */
const itemsMax = 1000;

function listOf<Item>(
  raw: string,
  separator: string,
  parseItem: (item: string) => Item | null,
): readonly Item[] | null {
  const items: Item[] = [];
  const parts = raw.split(separator, itemsMax + 1);
  if (parts.length > itemsMax) return null;
  for (const part of parts) {
    const trimmed = part.trim();
    if (trimmed === '') continue;
    const item = parseItem(trimmed);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}
