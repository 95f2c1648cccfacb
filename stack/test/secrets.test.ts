import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlPath } from '../../services/contracts/token.ts';
import { ping, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { mintOperatorToken } from '../operator-token.ts';
import { readSecret, secretFilesOf } from '../secrets.ts';
import { foreignServers } from './foreign-servers.ts';
import { Platform, startTimeoutMs, until } from './platform.ts';
import { processesAreShown, type RunningProcess, runningProcesses } from './running-processes.ts';
import { type Finding, formsOf, SecretSearch } from './secret-search.ts';

/** A platform that logs all it can, on which everything was done that involves a secret, with success and without. */
let platform: Platform;
const search = new SecretSearch();
/** Answers that told of a failure, as whoever asked read them. */
const errors: string[] = [];
/** What stood in arguments and environments at any time, and had no right to. */
const shown = new Map<string, Finding>();
let watching: NodeJS.Timeout;
let upstream: Server;

/** Secrets of people, by name: each is made up here and known to nobody else. */
const own = {
  envOfGood: secret(),
  envOfFailing: secret(),
  envOfApplied: secret(),
  headerRefused: secret(),
  headerUnreachable: secret(),
  shell: secret(),
  inUrl: secret(),
};

function secret(): string {
  return `s3cret-${randomBytes(18).toString('base64url')}`;
}

beforeAll(async () => {
  for (const [name, value] of Object.entries(own)) search.seek({ name, value });
  platform = await Platform.init({
    settings: (yaml) =>
      yaml.replace('level: info', 'level: trace').replace('runtime: {}', 'runtime: { FORWARD_STDERR: "true" }'),
  });
  watching = setInterval(watch, watchEveryMs);
  seekGenerated();
  await platform.run(['up', '--json'], { env: { SHELL_SECRET: own.shell } });
  upstream = createServer((request, response) => {
    const { authorization } = request.headers;
    response.writeHead(401, { 'www-authenticate': `Bearer error="${authorization}"` }).end(`no: ${authorization}`);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const keys = await useKeys();
  await addServers();
  await callTools(keys.good);
  await sendWrongRequests(keys);
  await applyFiles();
  await failToStart();
  await platform.svc('up');
  await platform.kill();
  await platform.svc('up');
  for (const args of [
    ['status'],
    ['logs', '-n', '5000'],
    ['server', 'list'],
    ['server', 'show', 'failing'],
    ['keys', 'list'],
    ['config', 'check'],
  ]) {
    await platform.run([...args, '--json']);
    await platform.run(args);
  }
}, startTimeoutMs);
afterAll(async () => {
  clearInterval(watching);
  upstream.close();
  await platform[Symbol.asyncDispose]();
}, startTimeoutMs);

/** What `svc init` made, as text and as the bytes that it stands for. */
function seekGenerated(): void {
  const files = secretFilesOf(platform.installation);
  const encryptionKey = readSecret(files.encryptionKey);
  const { d } = createPrivateKey(readSecret(files.jwtPrivateKey)).export({ format: 'jwk' });
  search.seek(
    { name: 'ENCRYPTION_KEY', value: encryptionKey },
    { name: 'ENCRYPTION_KEY, bytes', value: Buffer.from(encryptionKey, 'hex') },
    { name: 'JWT private key', value: readSecret(files.jwtPrivateKey).split('\n')[1] ?? '' },
    { name: 'JWT private key, bytes', value: Buffer.from(d ?? '', 'base64url') },
    { name: 'system key of remote-mcp', value: readSecret(files.remoteMcpKey) },
    { name: 'system key of the runtime', value: readSecret(files.runtimeKey) },
  );
}

/** Keys that are good, revoked, expired, mistyped, and put where no key belongs. */
async function useKeys(): Promise<Readonly<Record<'good' | 'revoked' | 'expired' | 'mistyped', string>>> {
  const create = async (name: string, ...flags: string[]) => {
    const { stdout } = await platform.run(['keys', 'create', '--name', name, '--json', ...flags]);
    const { key } = JSON.parse(stdout);
    search.seek({ name: `key "${name}"`, value: key });
    // Here and nowhere else it is shown, once.
    const [at] = [platform.printed.lastIndexOf(stdout)];
    platform.printed[at] = stdout.replace(key, '');
    return key as string;
  };
  const soon = new Date(Date.now() + 1500).toISOString();
  const keys = {
    good: await create('good'),
    revoked: await create('revoked'),
    expired: await create('expired', '--expires', soon),
  };
  await platform.svc('keys', 'revoke', 'revoked');
  const mistyped = `${keys.good.slice(0, -1)}${keys.good.endsWith('x') ? 'y' : 'x'}`;
  search.seek({ name: 'a key with a typo', value: mistyped });
  await until(() => Date.now() > Date.parse(soon));
  for (const key of [keys.good, keys.revoked, keys.expired, mistyped]) {
    await platform.run(['keys', 'test', '--json'], { env: { SVC_API_KEY: key } });
  }
  await platform.run(['keys', 'test'], { env: { SVC_API_KEY: mistyped } });
  await platform.run(['keys', 'test', '--json'], { stdin: `${keys.good} ${keys.good}\n` });
  const { registerRuntime } = await (await platform.backend()).query(
    'mutation { registerRuntime(name: "elsewhere") { secret } }',
    {},
    (data) => data as { registerRuntime: { secret: string } },
  );
  search.seek({ name: 'key of a runtime', value: registerRuntime.secret });
  return { ...keys, mistyped };
}

async function addServers(): Promise<void> {
  const files = {
    good: ['good.env', `TOKEN=${own.envOfGood}\n`],
    failing: ['failing.env', `TOKEN="${own.envOfFailing}"\n`],
    refused: ['refused.headers', `Authorization: Bearer ${own.headerRefused}\n`],
    unreachable: ['unreachable.headers', `X-Api-Key: ${own.headerUnreachable}\n`],
  } as const;
  const pathOf = (name: keyof typeof files) => join(platform.folder, files[name][0]);
  for (const [name, text] of Object.values(files)) writeFileSync(join(platform.folder, name), text);
  await platform.addServer('good', foreignServers.everything, ['--env-file', pathOf('good')]);
  const failing = join(platform.folder, 'failing.mjs');
  writeFileSync(failing, telling);
  const command = ['--', process.execPath, failing];
  await platform.fails('server', 'add', 'failing', '--env-file', pathOf('failing'), ...command);
  const { port } = upstream.address() as AddressInfo;
  const url = (at: number) => ['--url', `http://127.0.0.1:${at}/mcp`];
  await platform.fails('server', 'add', 'refused', ...url(port), '--header-file', pathOf('refused'));
  await platform.fails('server', 'add', 'unreachable', ...url(1), '--header-file', pathOf('unreachable'));
  // Once more for people, whose answers are worded otherwise.
  await platform.run(['server', 'remove', 'failing']);
  await platform.run(['server', 'add', 'failing', '--env-file', pathOf('failing'), ...command]);
}

/** A program that tells its secret in every way before it ends. */
const telling = `
const token = process.env.TOKEN;
const bytes = Buffer.from(token);
const told = [token, bytes.toString('base64'), bytes.toString('hex'), 'https://u:' + token + '@host/?t=' + token, JSON.stringify({ token })];
for (const text of told) {
  console.error('the token is ' + text);
  console.log('not a message: ' + text);
}
console.error(new Error('could not use ' + token).stack);
process.exit(1);
`;

async function callTools(key: string): Promise<void> {
  await platform.addSkill('works', ['good/get-env']);
  await platform.addSkill('fails', ['failing/nothing']);
  await platform.addRole('All', ['works', 'fails']);
  const agent = await platform.connect(key);
  const call = (name: string, args: Record<string, unknown> = {}) => agent.client.callTool({ name, arguments: args });
  for (const skill of ['works', 'fails']) errors.push(JSON.stringify(await call('load_skill', { skill })));
  errors.push(JSON.stringify(await call('list_skills')), JSON.stringify(await call('call_tool', { name: 'nothing' })));
  // Its own environment is what a tool may answer to its agent; nobody may write it down.
  expect(JSON.stringify(await call('get-env'))).toContain(own.envOfGood);
}

async function sendWrongRequests(keys: Awaited<ReturnType<typeof useKeys>>): Promise<void> {
  const { mcpUrl } = platform;
  const graphql = `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`;
  const tell = async (url: string, request: Parameters<typeof send>[1]) => errors.push((await send(url, request)).text);
  for (const key of Object.values(keys)) {
    await tell(mcpUrl, { key, body: '{' });
    await tell(mcpUrl, { headers: { authorization: key }, body: ping });
    await tell(`${mcpUrl}?key=${key}`, { body: ping });
    await tell(`${mcpUrl}?skillIds=${key}`, {
      key: keys.good,
      body: rpc('initialize', { protocolVersion: '2025-11-25' }),
    });
    await tell(graphql, { key, body: { query: '{ viewer { id } }' } });
    await tell(graphql.replace(graphqlPath, `/internal/catalogue/${key}`), { method: 'GET', key });
  }
  const token = mintOperatorToken({
    privateKey: readSecret(secretFilesOf(platform.installation).jwtPrivateKey),
    issuer: 'service-platform',
    nowMs: Date.now(),
  });
  search.seek({ name: 'token of an operator', value: token });
  const env = [{ name: 'TOKEN', value: own.envOfGood }];
  const add = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
  const w = (await platform.svc('keys', 'create', '--name', 'of')).workspace.id;
  for (const input of [
    { name: 'n', launch: { command: 'x', env: own.envOfGood } },
    { name: 'n', launch: { command: 'x', env, nothing: own.envOfGood } },
    { name: 'n', launch: { command: 'x', env: [{ name: 'A', value: `${own.envOfGood}\0` }] } },
    { name: 'n', launch: { command: 'x', url: 'https://x', env } },
    { name: 'good', launch: { command: 'x', env } },
    { name: 'n', launch: { command: 'x', env }, runtime: 'nowhere' },
    { name: 'n', launch: { url: `http://user:${own.inUrl}@host/mcp` } },
  ]) {
    await tell(graphql, { key: token, body: { query: add, variables: { w, input } } });
    const literal = JSON.stringify(input).replaceAll(/"(\w+)":/g, '$1: ');
    await tell(graphql, {
      key: token,
      body: { query: `mutation { createMcpServer(workspace: "${w}", input: ${literal}) { id } }` },
    });
    await tell(graphql, { key: token, body: { query: `{ nothing(a: ${literal}` } });
  }
}

async function applyFiles(): Promise<void> {
  const file = join(platform.folder, 'platform.yaml');
  const [command, ...args] = foreignServers.everything;
  const server = (env: object) =>
    JSON.stringify({ workspace: 'Default', mcpServers: { applied: { command, args, env } } });
  const apply = () => platform.run(['apply', file, '--json'], { env: { APPLIED_TOKEN: own.envOfApplied } });
  for (const env of [
    { TOKEN: { fromEnv: 'NOT_SET' } },
    { TOKEN: [own.envOfApplied] },
    { TOKEN: { fromEnv: 'APPLIED_TOKEN' } },
  ]) {
    writeFileSync(file, server(env));
    await apply();
  }
  await apply();
}

/** Secrets that are damaged or another's: what does not start says so, and must not say more. */
async function failToStart(): Promise<void> {
  await platform.svc('down');
  const { encryptionKey, jwtPublicKey, runtimeKey } = secretFilesOf(platform.installation);
  for (const [file, text] of [
    [encryptionKey, randomBytes(32).toString('hex')],
    [encryptionKey, readSecret(encryptionKey).slice(1)],
    [runtimeKey, readSecret(runtimeKey).slice(1)],
    [jwtPublicKey, readSecret(encryptionKey)],
  ] as const) {
    const right = readFileSync(file);
    writeFileSync(file, text);
    await platform.fails('up');
    writeFileSync(file, right);
  }
}

const watchEveryMs = 100;

/** Of all processes of this machine, because anybody on it may read arguments. */
function watch(): void {
  for (const finding of lookAtProcesses()) shown.set(JSON.stringify(finding), finding);
}

function lookAtProcesses(): readonly Finding[] {
  return runningProcesses()
    .filter(({ pid }) => pid !== process.pid)
    .flatMap((one) => [
      ...search.inText(one.command, `arguments of "${one.command.slice(0, 60)}…"`),
      ...search
        .inText(one.environment, `environment of "${one.command.slice(0, 60)}…"`)
        .filter(({ secret }) => !isOwn(one, secret)),
    ]);
}

/** An MCP server has its own secrets, and a command those that its caller gave it: nobody else's. */
function isOwn({ parent, environment }: RunningProcess, secret: string): boolean {
  if (parent === process.pid) return true;
  return (
    /^HOME=.*\/homes\/srv_/m.test(environment) &&
    /^env(OfGood|OfFailing|OfApplied)$/.test(secret) &&
    valuesIn(environment) === 1
  );
}

function valuesIn(environment: string): number {
  return Object.values(own).filter((value) => environment.includes(value)).length;
}

interface Place {
  readonly look: () => readonly Finding[];
  /** Puts a text there; returns what takes it away again. */
  readonly plant: (text: string) => Promise<() => unknown>;
}

function folder(name: 'logsDir' | 'stateDir' | 'dataDir'): Place {
  const file = () => join(platform.installation[name], 'deeper', 'planted.log');
  return {
    look: () => search.inFolder(platform.installation[name]),
    plant: async (text) => {
      mkdirSync(join(file(), '..'));
      writeFileSync(file(), `{"msg":"so it begins ${text}"}\n`);
      return () => rmSync(join(file(), '..'), { recursive: true });
    },
  };
}

function list(texts: () => string[], name: string): Place {
  return {
    look: () => texts().flatMap((text) => search.inText(text, `${name}: ${text.slice(0, 40)}…`)),
    plant: async (text) => {
      texts().push(`{"a":"${text}"}`);
      return () => texts().pop();
    },
  };
}

function running(args: readonly string[], env: Readonly<Record<string, string>>): Promise<() => unknown> {
  // By way of a shell, because what a test itself starts may know what it was given.
  const child: ChildProcess = spawn(
    '/bin/sh',
    ['-c', '"$0" "$@" & echo; wait', process.execPath, '-e', 'setInterval(() => {}, 1000)', ...args],
    {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  );
  return once(child.stdout ?? child, 'data').then(() => () => process.kill(-(child.pid ?? 0), 'SIGKILL'));
}

const places: Readonly<Record<string, Place>> = {
  logs: folder('logsDir'),
  'state/': folder('stateDir'),
  'data/': folder('dataDir'),
  'a row of a database, in its log of writes': {
    look: () => search.inFolder(platform.installation.dataDir),
    plant: async (text) => {
      const file = join(platform.installation.dataDir, 'planted.sqlite');
      const database = new DatabaseSync(file);
      database.exec('PRAGMA journal_mode = WAL; CREATE TABLE things (id TEXT, body BLOB)');
      // Long enough to be spread over several pages.
      database
        .prepare('INSERT INTO things VALUES (?, ?)')
        .run('x', Buffer.from(`${'-'.repeat(4000)}${text}${'-'.repeat(9000)}`));
      return () => {
        database.close();
        for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
      };
    },
  },
  'svc.yaml': {
    look: () => search.inText(readFileSync(platform.installation.definitionFile), 'svc.yaml'),
    plant: async (text) => {
      const { definitionFile } = platform.installation;
      const before = readFileSync(definitionFile);
      appendFileSync(definitionFile, `# ${text}\n`);
      return () => writeFileSync(definitionFile, before);
    },
  },
  'what svc printed': list(() => platform.printed, 'svc'),
  'answers that tell of a failure': list(() => errors, 'error'),
};

const shownPlaces: Readonly<Record<string, Place>> = {
  'arguments of processes': { look: lookAtProcesses, plant: (text) => running([text], {}) },
  'environments of processes': { look: lookAtProcesses, plant: (text) => running([], { PLANTED: text }) },
};

function hasNoSecret(name: string, place: Place): void {
  test(`${name}: every form of a secret is found there`, async () => {
    const planted = secret();
    search.seek({ name: `planted in ${name}`, value: planted });
    for (const [form, text] of formsOf(Buffer.from(planted))) {
      const remove = await place.plant(text.toString());
      try {
        const isFound = (found: Finding) => found.secret === `planted in ${name}` && found.form === form;
        await until(() => place.look().some(isFound));
      } finally {
        await remove();
      }
    }
  });

  test(`${name}: there is none`, () => {
    expect(place.look().filter(({ secret }) => !secret.startsWith('planted'))).toEqual([]);
  });
}

describe('wherever the platform writes', () => {
  for (const [name, place] of Object.entries(places)) hasNoSecret(name, place);

  test('and was there to be written: the places where they stood say so', () => {
    const log = readFileSync(join(platform.installation.logsDir, 'runtime.log'), 'utf8');
    const texts = { log, printed: platform.printed.join(''), errors: errors.join('') };
    for (const [name, text] of Object.entries(texts)) {
      expect([name, text.includes('the token is [secret]')]).toEqual([name, true]);
    }
    expect(log.includes('"level":"debug"')).toBe(true);
    expect(texts.errors.includes('typo')).toBe(true);
  });
});

describe.skipIf(!processesAreShown)('whatever runs', () => {
  for (const [name, place] of Object.entries(shownPlaces)) hasNoSecret(name, place);

  test('nor was there at any time', () => {
    expect([...shown.values()].filter(({ secret }) => !secret.startsWith('planted'))).toEqual([]);
  });
});
