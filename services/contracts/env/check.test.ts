import { describe, expect, it, test } from 'vitest';
import { checkEnv, describeProblems, developmentEncryptionKey, type EnvRecord } from './check.ts';
import { ignored, rejected, type ServiceName } from './variables.ts';

const hex = '0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdefABCD'.slice(0, 64);
const key = (prefix: string) => `${prefix}${'a1B2c3D'.repeat(7)}`;
/** The minimal environment of each service. */
const least: { readonly [Service in ServiceName]: EnvRecord } = {
  backend: {
    ENCRYPTION_KEY: hex,
    JWT_PRIVATE_KEY_PATH: '/jwt.pem',
    JWT_PUBLIC_KEY_PATH: '/jwt.pub',
    BUS_SERVERS: 'inproc:',
  },
  frontend: {},
  runtime: { RUNTIME_KEY: key('RTK_') },
  'remote-mcp': { SYSTEM_KEY: key('SYK_'), REMOTE_PORT: '3001' },
};

const services: readonly ServiceName[] = ['backend', 'frontend', 'runtime', 'remote-mcp'];
const named = (problems: readonly { readonly variable: string }[]) => problems.map((problem) => problem.variable);

describe('removed variables', () => {
  const all = services.flatMap((service) => Object.keys(rejected[service] ?? {}).map((name) => ({ service, name })));

  test('are those of the specification', () => {
    expect(all.map(({ service, name }) => `${service} ${name}`)).toEqual([
      'runtime USER_KEY',
      'runtime MCP_REMOTE_ENABLED',
      'remote-mcp RUNTIME_KEY',
      'remote-mcp RUNTIME_NAME',
    ]);
  });

  it.each(all)('$service does not start with $name, whatever its value', ({ service, name }) => {
    for (const value of ['anything', 'false', '0']) {
      const { problems } = checkEnv(service, { ...least[service], [name]: value });
      expect(named(problems)).toEqual([name]);
      expect(describeProblems(service, problems)).toContain(`${name} is rejected by ${service}`);
    }
    const asFile = checkEnv(service, { ...least[service], [`${name}_FILE`]: '/secret' });
    expect(named(asFile.problems)).toEqual([`${name}_FILE`]);
    expect(checkEnv(service, { ...least[service], [name]: '' }).problems).toEqual([]);
  });

  it.each(services)('%s starts with SKILL_IDS and ROLE_IDS, and warns that they are not read', (service) => {
    const { problems, warnings } = checkEnv(service, { ...least[service], SKILL_IDS: 'a', ROLE_IDS: 'b' });
    expect(problems).toEqual([]);
    expect(warnings).toEqual(Object.values(ignored));
    expect(warnings.join()).toContain('skillIds');
    expect(warnings.join()).toContain('roleIds');
    expect(checkEnv(service, least[service]).warnings).toEqual([]);
  });
});

describe('the encryption key', () => {
  const production = { ...least.backend, NODE_ENV: 'production', PUBLIC_BACKEND_URL: 'http://localhost:3000' };

  it('of development is refused in production only', () => {
    const refused = checkEnv('backend', { ...production, ENCRYPTION_KEY: developmentEncryptionKey });
    expect(named(refused.problems)).toEqual(['ENCRYPTION_KEY']);
    expect(describeProblems('backend', refused.problems)).toContain('openssl rand -hex 32');
    const accepted = checkEnv('backend', { ...least.backend, ENCRYPTION_KEY: developmentEncryptionKey });
    expect(accepted.problems).toEqual([]);
    expect(checkEnv('backend', production).problems).toEqual([]);
  });
});

describe('the identity of a runtime', () => {
  const RUNTIME_KEY = key('RTK_');
  const SYSTEM_KEY = key('SYK_');
  const RUNTIME_NAME = 'cloud';

  it.each([
    [{ RUNTIME_KEY }, []],
    [{ SYSTEM_KEY, RUNTIME_NAME }, []],
    [{ RUNTIME_KEY_FILE: '/secret' }, []],
    [{ SYSTEM_KEY_FILE: '/secret', RUNTIME_NAME }, []],
    [{}, ['RUNTIME_KEY']],
    [{ SYSTEM_KEY }, ['RUNTIME_NAME']],
    [{ SYSTEM_KEY_FILE: '/secret' }, ['RUNTIME_NAME']],
    [{ RUNTIME_NAME }, ['RUNTIME_KEY']],
    [{ RUNTIME_KEY, SYSTEM_KEY }, ['RUNTIME_KEY']],
    [{ RUNTIME_KEY, RUNTIME_NAME }, ['RUNTIME_KEY']],
    [{ RUNTIME_KEY, SYSTEM_KEY, RUNTIME_NAME }, ['RUNTIME_KEY']],
    [{ RUNTIME_KEY_FILE: '/secret', SYSTEM_KEY, RUNTIME_NAME }, ['RUNTIME_KEY']],
  ])('%j has the problems %j', (record, expected) => {
    const { problems } = checkEnv('runtime', record);
    expect(named(problems)).toEqual(expected);
  });
});

describe('public addresses', () => {
  const outside = 'https://svc.example.com';
  const backend = { ...least.backend, NODE_ENV: 'production', PUBLIC_BACKEND_URL: 'http://localhost:3000' };
  const remoteMcp = { ...least['remote-mcp'], NODE_ENV: 'production' };

  it('of the backend must be set in production', () => {
    const { problems } = checkEnv('backend', { ...backend, PUBLIC_BACKEND_URL: '' });
    expect(named(problems)).toEqual(['PUBLIC_BACKEND_URL']);
  });

  it('may all be on loopback', () => {
    expect(checkEnv('backend', backend).problems).toEqual([]);
    expect(checkEnv('backend', { ...backend, PUBLIC_MCP_URL: 'http://127.0.0.1:3001/mcp' }).problems).toEqual([]);
    expect(checkEnv('backend', { ...backend, PUBLIC_MCP_URL: 'http://[::1]:3001/mcp' }).problems).toEqual([]);
    expect(checkEnv('remote-mcp', remoteMcp).problems).toEqual([]);
  });

  it('must all be public once one of them is', () => {
    const one = checkEnv('backend', { ...backend, PUBLIC_MCP_URL: outside });
    expect(named(one.problems)).toEqual(['PUBLIC_BACKEND_URL', 'PUBLIC_FRONTEND_URL']);
    const all = { PUBLIC_BACKEND_URL: outside, PUBLIC_FRONTEND_URL: outside, PUBLIC_MCP_URL: outside };
    expect(checkEnv('backend', { ...backend, ...all }).problems).toEqual([]);
    expect(named(checkEnv('remote-mcp', { ...remoteMcp, PUBLIC_MCP_URL: outside }).problems)).toEqual([
      'PUBLIC_BACKEND_URL',
    ]);
    const frontend = { NODE_ENV: 'production', PUBLIC_BACKEND_URL: outside };
    expect(named(checkEnv('frontend', frontend).problems)).toEqual(['PUBLIC_MCP_URL']);
  });

  it('must not be names of the internal network', () => {
    const { problems } = checkEnv('remote-mcp', {
      ...remoteMcp,
      PUBLIC_MCP_URL: outside,
      PUBLIC_BACKEND_URL: 'http://backend:3000',
    });
    expect(named(problems)).toEqual(['PUBLIC_BACKEND_URL']);
    expect(describeProblems('remote-mcp', problems)).toContain('"backend"');
  });

  it('are not checked outside of production', () => {
    const { problems } = checkEnv('backend', { ...backend, NODE_ENV: 'development', PUBLIC_MCP_URL: outside });
    expect(problems).toEqual([]);
  });
});

describe('the mail provider', () => {
  it.each([
    ['provider_a', ['PROVIDER_A_API_KEY', 'PROVIDER_A_URL', 'EMAIL_FROM']],
    ['provider_b', ['PROVIDER_B_API_KEY', 'PROVIDER_B_URL', 'EMAIL_FROM']],
    ['smtp', ['SMTP_HOST', 'EMAIL_FROM']],
  ])('%s needs every setting for sending', (provider, needed) => {
    const { problems } = checkEnv('backend', { ...least.backend, EMAIL_PROVIDER: provider });
    expect(named(problems)).toEqual(needed);
    expect(describeProblems('backend', problems)).toContain(`EMAIL_PROVIDER=${provider}`);
  });

  it('may have its key in a file, and no other setting', () => {
    const files = { PROVIDER_A_API_KEY_FILE: '/secret', PROVIDER_A_URL_FILE: '/url', EMAIL_FROM_FILE: '/from' };
    const { problems } = checkEnv('backend', { ...least.backend, EMAIL_PROVIDER: 'provider_a', ...files });
    expect(named(problems)).toEqual(['PROVIDER_A_URL', 'EMAIL_FROM']);
  });
});

describe('a user and a password', () => {
  it.each([
    ['PRIVATE_GRAPHDB_USER', 'PRIVATE_GRAPHDB_PASSWORD'],
    ['SMTP_USER', 'SMTP_PASSWORD'],
  ])('%s and %s are given together', (user, password) => {
    const withoutPassword = checkEnv('backend', { ...least.backend, [user]: 'svc' });
    expect(named(withoutPassword.problems)).toEqual([password]);
    expect(describeProblems('backend', withoutPassword.problems)).toContain(`${password} is required with ${user}`);
    expect(named(checkEnv('backend', { ...least.backend, [password]: 'word' }).problems)).toEqual([user]);
    const inFile = { ...least.backend, [user]: 'svc', [`${password}_FILE`]: '/secret' };
    expect(checkEnv('backend', inFile).problems).toEqual([]);
  });
});

describe('a backend on NATS', () => {
  const seeds = ['BUS_CALLOUT_SEED', 'BUS_SYSTEM_SEED', 'BUS_ISSUER_SEED'];

  it.each([undefined, 'nats-1:4222'])('at %j names every missing seed', (servers) => {
    const { problems } = checkEnv('backend', { ...least.backend, BUS_SERVERS: servers });
    expect(named(problems)).toEqual(seeds);
    expect(describeProblems('backend', problems)).toContain('BUS_SERVERS=inproc:');
  });

  it('may have its seeds in files', () => {
    const files = Object.fromEntries(seeds.map((name) => [`${name}_FILE`, '/seed']));
    expect(checkEnv('backend', { ...least.backend, BUS_SERVERS: 'nats-1:4222', ...files }).problems).toEqual([]);
  });
});

describe('variables without a reader', () => {
  it('are reported when set, each with the feature it waits for', () => {
    const { problems, warnings } = checkEnv('runtime', {
      ...least.runtime,
      METRICS_PORT: '9100',
      SVC_MAX_FILE_SIZE_MB: '5',
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'SVC_MAX_FILE_SIZE_MB is not used yet: it comes with files of MCP servers.',
      'METRICS_PORT is not used yet: it comes with metrics and traces.',
    ]);
  });

  it('are reported when they depend on another variable', () => {
    const allowed = { ...least.runtime, SVC_ALLOWED_PATHS: '/a' };
    const told = ['SVC_ALLOWED_PATHS has no effect without MCP_SERVER_SANDBOX=auto or bwrap or container.'];
    expect(checkEnv('runtime', { ...allowed, MCP_SERVER_SANDBOX: 'none-for-everybody' }).warnings).toEqual(told);
    for (const sandbox of ['', 'auto', 'bwrap']) {
      expect(checkEnv('runtime', { ...allowed, MCP_SERVER_SANDBOX: sandbox }).warnings).toEqual([]);
    }
    expect(checkEnv('runtime', { ...allowed, MCP_SERVER_SANDBOX: 'container' })).toMatchObject({
      problems: [{ variable: 'MCP_SERVER_IMAGE', rule: 'is required with MCP_SERVER_SANDBOX=container' }],
      warnings: [],
    });
  });

  it('are reported when a value of an older version is read as another', () => {
    const { env, problems, warnings } = checkEnv('runtime', {
      ...least.runtime,
      SVC_ALLOWED_PATHS: '/a',
      MCP_SERVER_SANDBOX: 'none',
    });
    expect({ sandbox: env.MCP_SERVER_SANDBOX, problems }).toEqual({ sandbox: 'auto', problems: [] });
    expect(warnings).toEqual([
      expect.stringMatching(/none \(MCP_SERVER_SANDBOX\) is read as auto.*none-for-everybody/),
    ]);
  });

  it('are reported once when they belong to OpenTelemetry, without their values', () => {
    const { problems, warnings } = checkEnv('frontend', {
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: '/secret',
      OTEL_BSP_SCHEDULE_DELAY: '',
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'Not used until metrics and traces come: OTEL_EXPORTER_OTLP_HEADERS_FILE, OTEL_TRACES_EXPORTER.',
    ]);
  });

  it('are reported when a file holds them', () => {
    const { warnings } = checkEnv('backend', { ...least.backend, SMTP_PASSWORD_FILE: '/secret', SMTP_USER: 'us' });
    expect(warnings).toContain('SMTP_PASSWORD has no effect without EMAIL_PROVIDER=smtp.');
  });

  it('are not reported when their value equals the default', () => {
    const { warnings } = checkEnv('backend', { ...least.backend, EMAIL_PROVIDER: 'log', SMTP_PORT: '587' });
    expect(warnings).toEqual([]);
    expect(checkEnv('backend', { ...least.backend, SMTP_PORT: '25' }).warnings).toHaveLength(1);
  });

  it('stop the boot when they are malformed, like any other', () => {
    const { problems } = checkEnv('frontend', { METRICS_PORT: 'many' });
    expect(named(problems)).toEqual(['METRICS_PORT']);
  });
});

describe('problems', () => {
  it('are reported all at once, each with variable, rule and repair', () => {
    const { problems } = checkEnv('backend', {
      PORT: 'http',
      ENCRYPTION_KEY: 'short',
      EMAIL_PROVIDER: 'provider_a',
      NODE_ENV: 'production',
      CORS_ORIGINS: '*',
    });
    expect(named(problems)).toEqual([
      'PORT',
      'ENCRYPTION_KEY',
      'JWT_PRIVATE_KEY_PATH',
      'JWT_PUBLIC_KEY_PATH',
      'CORS_ORIGINS',
      'PUBLIC_BACKEND_URL',
      'PROVIDER_A_API_KEY',
      'PROVIDER_A_URL',
      'EMAIL_FROM',
      'BUS_CALLOUT_SEED',
      'BUS_SYSTEM_SEED',
      'BUS_ISSUER_SEED',
    ]);
    const message = describeProblems('backend', problems);
    expect(message).toMatch(/^backend cannot start: 12 variables are wrong\.\n/);
    for (const { variable, rule, repair } of problems) expect(message).toContain(`${variable} ${rule}.\n    ${repair}`);
    expect(message).not.toContain('short');
  });

  it('are reported in the singular when there is one', () => {
    const { problems } = checkEnv('remote-mcp', { ...least['remote-mcp'], REMOTE_PORT: '' });
    expect(describeProblems('remote-mcp', problems)).toMatch(
      /one variable is wrong\.\n {2}REMOTE_PORT is required\.\n/,
    );
  });

  it('leave a required secret that is given as a file to the reader of the file', () => {
    const { problems } = checkEnv('backend', { ...least.backend, ENCRYPTION_KEY: '', ENCRYPTION_KEY_FILE: '/secret' });
    expect(problems).toEqual([]);
    const noSecret = { ...least.backend, JWT_PUBLIC_KEY_PATH: '', JWT_PUBLIC_KEY_PATH_FILE: '/path' };
    expect(named(checkEnv('backend', noSecret).problems)).toEqual(['JWT_PUBLIC_KEY_PATH']);
  });
});
