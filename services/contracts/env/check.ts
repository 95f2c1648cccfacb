import { parseKey } from '../keys.ts';
import { isTelemetry, telemetryAwaits } from './telemetry.ts';
import type { Problem, Variable } from './variable.ts';
import { ignored, rejected, type ServiceName, variables } from './variables.ts';

type Table = typeof variables;
type ValueOf<Entry> =
  Entry extends Variable<infer Value>
    ? Entry extends { readonly default: string } | { readonly required: true }
      ? Value
      : Value | undefined
    : never;

/** The checked environment of a service; a variable without a value is undefined. */
export type Env<Service extends ServiceName> = {
  readonly [Name in keyof Table[Service]]: ValueOf<Table[Service][Name]>;
};

export type EnvRecord = Readonly<Record<string, string | undefined>>;

export interface Checked<Service extends ServiceName> {
  readonly env: Env<Service>;
  readonly problems: readonly Problem[];
  /** Variables without effect, or with a value that is read as another. */
  readonly warnings: readonly string[];
}

/**
 * Checks a service's variables and reports every problem at once; `env` is valid only without problems. A secret may
 * also be given by its `_FILE` twin: the caller first reads that file into the secret's own variable.
 */
export function checkEnv<Service extends ServiceName>(service: Service, record: EnvRecord): Checked<Service> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries<Variable<unknown>>(variables[service])) {
    values[name] = parseEntry(name, entry, record, problems);
  }
  for (const [name, repair] of Object.entries<string>(rejected[service] ?? {})) {
    const set = [name, `${name}_FILE`].find((twin) => isSet(record[twin]));
    if (set !== undefined) problems.push({ variable: set, rule: `is rejected by ${service}`, repair });
  }
  for (const rule of rules[service]) problems.push(...rule(record));
  const warnings = [...formerValues(service, record), ...withoutEffect(service, record)];
  return { env: values as Env<Service>, problems, warnings };
}

/** Variables without effect. A value that equals the default is not reported. */
function withoutEffect(service: ServiceName, record: EnvRecord): readonly string[] {
  const unread = Object.entries<Variable<unknown>>(variables[service]).flatMap(([name, entry]) => {
    const why = whyUnread(service, entry, record);
    return why !== null && isGiven(record, name) && !isDefault(entry, record[name]) ? [`${name} ${why}.`] : [];
  });
  const telemetry = Object.keys(record).filter((name) => isTelemetry(name) && isSet(record[name]));
  return [
    ...Object.entries(ignored).flatMap(([name, told]) => (isSet(record[name]) ? [told] : [])),
    ...unread,
    ...(telemetry.length > 0 ? [`Not used until ${telemetryAwaits} come: ${telemetry.sort().join(', ')}.`] : []),
  ];
}

function whyUnread(
  service: ServiceName,
  { awaits, onlyWith = {} }: Variable<unknown>,
  record: EnvRecord,
): string | null {
  if (awaits !== undefined) return `is not used yet: it comes with ${awaits}`;
  const table: Readonly<Record<string, Variable<unknown>>> = variables[service];
  const missing = Object.entries(onlyWith).find(([name, values]) => {
    const value = isSet(record[name]) ? record[name] : (table[name]?.default ?? '');
    return !values.includes(table[name]?.formerly?.[value]?.as ?? value);
  });
  return missing === undefined ? null : `has no effect without ${missing[0]}=${missing[1].join(' or ')}`;
}

/** Values of older versions that are read as other values. */
function formerValues(service: ServiceName, record: EnvRecord): readonly string[] {
  return Object.entries<Variable<unknown>>(variables[service]).flatMap(([name, { formerly }]) => {
    const former = formerly?.[record[name] ?? ''];
    return former === undefined ? [] : [`${former.told}.`];
  });
}

function isDefault(entry: Variable<unknown>, raw: string | undefined): boolean {
  return entry.default !== undefined && raw === entry.default;
}

/** One message with every wrong variable, its rule and its repair. */
export function describeProblems(service: ServiceName, problems: readonly Problem[]): string {
  const lines = problems.map((problem) => `  ${problem.variable} ${problem.rule}.\n    ${problem.repair}`);
  return `${service} cannot start: ${problems.length === 1 ? 'one variable is' : `${problems.length} variables are`} wrong.\n${lines.join('\n')}`;
}

export const developmentEncryptionKey = '0'.repeat(64);

function parseEntry(name: string, entry: Variable<unknown>, record: EnvRecord, problems: Problem[]): unknown {
  const raw = record[name];
  const given = isSet(raw) ? raw : entry.default;
  if (given === undefined) {
    if (entry.required && !isGiven(record, name)) {
      problems.push({ variable: name, rule: 'is required', repair: `Set ${name} to ${entry.rule}. ${entry.meaning}` });
    }
    return undefined;
  }
  const value = entry.parse(entry.formerly?.[given]?.as ?? given);
  if (value === null) {
    const shown = entry.secret ? `its value${whatItIs(given)}` : `"${given.slice(0, 80)}"`;
    problems.push({ variable: name, rule: `must be ${entry.rule}`, repair: `Change ${shown}. ${entry.meaning}` });
    return undefined;
  }
  return value;
}

/** The most frequent mistake is a key of another kind. */
function whatItIs(text: string): string {
  const parsed = parseKey(text);
  return parsed.ok ? `, which is a ${parsed.kind} key` : '';
}

/** Unset and empty are the same: a container file with `NAME=` sets nothing. */
function isSet(raw: string | undefined): raw is string {
  return raw !== undefined && raw !== '';
}

/** Given directly or, for a secret, as a file. The reader of the file reports its problems. */
function isGiven(record: EnvRecord, name: string): boolean {
  return isSet(record[name]) || (secrets.has(name) && isSet(record[`${name}_FILE`]));
}

const secrets: ReadonlySet<string> = new Set(
  Object.values(variables).flatMap((table) =>
    Object.entries<Variable<unknown>>(table).flatMap(([name, entry]) => (entry.secret ? [name] : [])),
  ),
);

type Rule = (record: EnvRecord) => readonly Problem[];

const rules: { readonly [Service in ServiceName]: readonly Rule[] } = {
  backend: [
    noDevelopmentKey,
    publicBackendUrlInProduction,
    noInternalPublicUrl({
      PUBLIC_BACKEND_URL: undefined,
      PUBLIC_FRONTEND_URL: variables.backend.PUBLIC_FRONTEND_URL.default,
      PUBLIC_MCP_URL: variables.backend.PUBLIC_MCP_URL.default,
    }),
    mailProviderComplete,
    seedsOnNats,
    together('PRIVATE_GRAPHDB_USER', 'PRIVATE_GRAPHDB_PASSWORD'),
    together('SMTP_USER', 'SMTP_PASSWORD'),
    together('SIGN_IN_PROVIDER_ISSUER', 'SIGN_IN_PROVIDER_CLIENT_ID'),
    together('SIGN_IN_PROVIDER_ISSUER', 'SIGN_IN_PROVIDER_CLIENT_SECRET'),
  ],
  frontend: [
    noInternalPublicUrl({
      PUBLIC_BACKEND_URL: undefined,
      PUBLIC_MCP_URL: variables.frontend.PUBLIC_MCP_URL.default,
      PUBLIC_MCP_KEYS_URL: undefined,
    }),
  ],
  runtime: [exactlyOneIdentity, imageOfContainers],
  'remote-mcp': [
    noInternalPublicUrl({
      PUBLIC_BACKEND_URL: variables['remote-mcp'].PUBLIC_BACKEND_URL.default,
      PUBLIC_MCP_URL: variables['remote-mcp'].PUBLIC_MCP_URL.default,
      PUBLIC_MCP_KEYS_URL: undefined,
    }),
  ],
};

function noDevelopmentKey(record: EnvRecord): readonly Problem[] {
  if (record.NODE_ENV !== 'production' || record.ENCRYPTION_KEY !== developmentEncryptionKey) return [];
  return [
    {
      variable: 'ENCRYPTION_KEY',
      rule: 'must not be the development key in production',
      repair: 'Generate 32 random bytes: openssl rand -hex 32.',
    },
  ];
}

/** Part 8, "Backend": PUBLIC_BACKEND_URL is required in production, so its default does not count there. */
function publicBackendUrlInProduction(record: EnvRecord): readonly Problem[] {
  if (record.NODE_ENV !== 'production' || isSet(record.PUBLIC_BACKEND_URL)) return [];
  return [
    {
      variable: 'PUBLIC_BACKEND_URL',
      rule: 'is required in production',
      repair: 'Set PUBLIC_BACKEND_URL to the URL of the backend for people and agents.',
    },
  ];
}

/**
 * Once one public address is not on this machine, none of them, given or default, may be a name of the internal
 * network.
 */
function noInternalPublicUrl(defaults: EnvRecord): Rule {
  return (record) => {
    const hosts = Object.entries(defaults).flatMap(([name, fallback]) => {
      const raw = isSet(record[name]) ? record[name] : fallback;
      return isSet(raw) && URL.canParse(raw) ? [{ name, host: new URL(raw).hostname }] : [];
    });
    if (record.NODE_ENV !== 'production' || hosts.every(({ host }) => isLoopback(host))) return [];
    return hosts
      .filter(({ host }) => isLoopback(host) || !/[.:]/.test(host))
      .map(({ name, host }) => ({
        variable: name,
        rule: `must not be the internal name "${host}" while another public address is configured`,
        repair: `Set ${name} to the URL for people and agents outside.`,
      }));
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}

const neededToMail: ReadonlyMap<string, readonly string[]> = new Map([
  ['provider_a', ['PROVIDER_A_API_KEY', 'PROVIDER_A_URL', 'EMAIL_FROM']],
  ['provider_b', ['PROVIDER_B_API_KEY', 'PROVIDER_B_URL', 'EMAIL_FROM']],
  ['smtp', ['SMTP_HOST', 'EMAIL_FROM']],
]);

function mailProviderComplete(record: EnvRecord): readonly Problem[] {
  return (neededToMail.get(record.EMAIL_PROVIDER ?? '') ?? [])
    .filter((name) => !isGiven(record, name))
    .map((name) => ({
      variable: name,
      rule: `is required with EMAIL_PROVIDER=${record.EMAIL_PROVIDER}`,
      repair: `Set ${name}, or EMAIL_PROVIDER=log to write mail to the log.`,
    }));
}

/** Inside one process no proof of a backend is needed; NATS needs it. */
function seedsOnNats(record: EnvRecord): readonly Problem[] {
  if (record.BUS_SERVERS === 'inproc:') return [];
  return ['BUS_CALLOUT_SEED', 'BUS_SYSTEM_SEED', 'BUS_ISSUER_SEED']
    .filter((name) => !isGiven(record, name))
    .map((name) => ({
      variable: name,
      rule: 'is required when BUS_SERVERS names NATS',
      repair: `Set ${name} to the seed whose public key the configuration of NATS names, or BUS_SERVERS=inproc: in one process.`,
    }));
}

/** The image decides which programs MCP servers find, so only the operator can choose it. */
function imageOfContainers(record: EnvRecord): readonly Problem[] {
  if (record.MCP_SERVER_SANDBOX !== 'container' || isSet(record.MCP_SERVER_IMAGE)) return [];
  return [
    {
      variable: 'MCP_SERVER_IMAGE',
      rule: 'is required with MCP_SERVER_SANDBOX=container',
      repair:
        'Set MCP_SERVER_IMAGE to an image of this Docker that contains a shell and the programs that start MCP servers.',
    },
  ];
}

/** A user without a password, or a password without a user, is half a credential. */
function together(user: string, password: string): Rule {
  return (record) => {
    const [missing, given] = isGiven(record, user) ? [password, user] : [user, password];
    if (isGiven(record, missing) || !isGiven(record, given)) return [];
    return [{ variable: missing, rule: `is required with ${given}`, repair: `Set ${missing}, or unset ${given}.` }];
  };
}

function exactlyOneIdentity(record: EnvRecord): readonly Problem[] {
  const runtimeKey = isGiven(record, 'RUNTIME_KEY');
  const systemKey = isGiven(record, 'SYSTEM_KEY');
  const name = isSet(record.RUNTIME_NAME);
  if (runtimeKey && (systemKey || name)) {
    return [
      {
        variable: 'RUNTIME_KEY',
        rule: `must not be set together with ${systemKey ? 'SYSTEM_KEY' : 'RUNTIME_NAME'}`,
        repair: 'Keep exactly one identity: RUNTIME_KEY alone, or SYSTEM_KEY with RUNTIME_NAME.',
      },
    ];
  }
  if (runtimeKey || (systemKey && name)) return [];
  if (systemKey) {
    return [
      {
        variable: 'RUNTIME_NAME',
        rule: 'is required with SYSTEM_KEY',
        repair: 'Set RUNTIME_NAME to the name of this runtime.',
      },
    ];
  }
  return [
    {
      variable: 'RUNTIME_KEY',
      rule: 'is required, or SYSTEM_KEY with RUNTIME_NAME',
      repair: 'Set RUNTIME_KEY to the key that svc runtime register printed, or RUNTIME_KEY_FILE to a file with it.',
    },
  ];
}
