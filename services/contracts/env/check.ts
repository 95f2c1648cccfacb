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
  readonly warnings: readonly string[];
}

/** Checks a service's variables and reports every problem at once. `env` may be used only where there is none. */
export function checkEnv<Service extends ServiceName>(service: Service, record: EnvRecord): Checked<Service> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries<Variable<unknown>>(variables[service])) {
    values[name] = parseEntry(name, entry, record[name], problems);
  }
  for (const [name, repair] of Object.entries<string>(rejected[service] ?? {})) {
    if (isSet(record[name])) problems.push({ variable: name, rule: `is rejected by ${service}`, repair });
  }
  for (const rule of rules[service]) problems.push(...rule(record));
  const warnings = Object.entries(ignored).flatMap(([name, warning]) => (isSet(record[name]) ? [warning] : []));
  return { env: values as Env<Service>, problems, warnings };
}

/** One message that names every wrong variable, its rule and its repair. */
export function describeProblems(service: ServiceName, problems: readonly Problem[]): string {
  const lines = problems.map((problem) => `  ${problem.variable} ${problem.rule}.\n    ${problem.repair}`);
  return `${service} cannot start: ${problems.length === 1 ? 'one variable is' : `${problems.length} variables are`} wrong.\n${lines.join('\n')}`;
}

export const developmentEncryptionKey = '0'.repeat(64);

function parseEntry(name: string, entry: Variable<unknown>, raw: string | undefined, problems: Problem[]): unknown {
  const given = isSet(raw) ? raw : entry.default;
  if (given === undefined) {
    if (entry.required) {
      problems.push({ variable: name, rule: 'is required', repair: `Set ${name} to ${entry.rule}. ${entry.meaning}` });
    }
    return undefined;
  }
  const value = entry.parse(given);
  if (value === null) {
    const shown = entry.secret ? 'its value' : `"${given.slice(0, 80)}"`;
    problems.push({ variable: name, rule: `must be ${entry.rule}`, repair: `Change ${shown}. ${entry.meaning}` });
    return undefined;
  }
  return value;
}

/** Unset and empty are the same: a container file that says `NAME=` sets nothing. */
function isSet(raw: string | undefined): raw is string {
  return raw !== undefined && raw !== '';
}

type Rule = (record: EnvRecord) => readonly Problem[];

const rules: { readonly [Service in ServiceName]: readonly Rule[] } = {
  backend: [
    noDevelopmentKey,
    noInternalPublicUrl(['PUBLIC_BACKEND_URL', 'PUBLIC_FRONTEND_URL', 'PUBLIC_MCP_URL']),
    mailProviderComplete,
  ],
  frontend: [noInternalPublicUrl(['PUBLIC_BACKEND_URL', 'PUBLIC_MCP_URL'])],
  runtime: [exactlyOneIdentity],
  'remote-mcp': [noInternalPublicUrl(['PUBLIC_BACKEND_URL', 'PUBLIC_MCP_URL'])],
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

/** Once one public address is not this machine, none of them may be a name that only the inside knows. */
function noInternalPublicUrl(names: readonly string[]): Rule {
  return (record) => {
    const hosts = names.flatMap((name) => {
      const raw = record[name];
      return isSet(raw) && URL.canParse(raw) ? [{ name, host: new URL(raw).hostname }] : [];
    });
    if (record.NODE_ENV !== 'production' || hosts.every(({ host }) => isLoopback(host))) return [];
    return hosts
      .filter(({ host }) => isLoopback(host) || !/[.:]/.test(host))
      .map(({ name, host }) => ({
        variable: name,
        rule: `must not be the internal name "${host}" while another public address is configured`,
        repair: `Set ${name} to the URL that people and agents reach from outside.`,
      }));
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}

function mailProviderComplete(record: EnvRecord): readonly Problem[] {
  const needed = {
    provider_a: ['PROVIDER_A_API_KEY', 'PROVIDER_A_URL', 'EMAIL_FROM'],
    provider_b: ['PROVIDER_B_API_KEY', 'PROVIDER_B_URL', 'EMAIL_FROM'],
  }[record.EMAIL_PROVIDER ?? ''];
  return (needed ?? [])
    .filter((name) => !isSet(record[name]))
    .map((name) => ({
      variable: name,
      rule: `is required with EMAIL_PROVIDER=${record.EMAIL_PROVIDER}`,
      repair: `Set ${name}, or EMAIL_PROVIDER=log to write mail to the log.`,
    }));
}

function exactlyOneIdentity(record: EnvRecord): readonly Problem[] {
  const runtimeKey = isSet(record.RUNTIME_KEY);
  const systemKey = isSet(record.SYSTEM_KEY);
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
      repair: 'Set the key that `svc runtime register NAME` printed.',
    },
  ];
}
