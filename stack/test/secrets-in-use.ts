import { createPrivateKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { graphqlPath } from '../../services/contracts/token.ts';
import { ping, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { mintOperatorToken } from '../client/operator-token.ts';
import { readSecret, secretFilesOf } from '../secrets/secrets.ts';
import { foreignServers } from './foreign-servers.ts';
import { Platform } from './platform.ts';
import { type RunningProcess, runningProcesses } from './running-processes.ts';
import { type Finding, SecretSearch } from './secret-search.ts';
import { until } from './until.ts';

type Keys = Readonly<Record<'good' | 'revoked' | 'expired' | 'mistyped', string>>;

const watchEveryMs = 100;

/** A secret that nobody else has. */
export function newSecret(): string {
  return `s3cret-${randomBytes(18).toString('base64url')}`;
}

/** A platform that logs all it can, on which everything is done that involves a secret, with success and without. */
export class SecretsInUse {
  readonly platform: Platform;
  /** Knows every secret that there is. */
  readonly search = new SecretSearch();
  /** Answers that told of a failure, as whoever asked read them. */
  readonly errors: string[] = [];
  /** Secrets of people, by name. */
  readonly #own = {
    envOfGood: newSecret(),
    envOfFailing: newSecret(),
    envOfApplied: newSecret(),
    headerRefused: newSecret(),
    headerUnreachable: newSecret(),
    shell: newSecret(),
    inUrl: newSecret(),
  };
  /** What stood in arguments and environments at any time, and had no right to. */
  readonly #shown = new Map<string, Finding>();
  readonly #watching = setInterval(() => this.#watch(), watchEveryMs);
  /** An MCP server that repeats the credential it refuses. */
  readonly #upstream = createServer(({ headers: { authorization } }, response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer error="${authorization}"` }).end(`no: ${authorization}`);
  });

  private constructor(platform: Platform) {
    this.platform = platform;
    for (const [name, value] of Object.entries(this.#own)) this.search.seek({ name, value });
  }

  static async start(): Promise<SecretsInUse> {
    const settings = (yaml: string) =>
      yaml.replace('level: info', 'level: trace').replace('runtime: {}', 'runtime: { FORWARD_STDERR: "true" }');
    const started = new SecretsInUse(await Platform.init({ settings }));
    try {
      await started.#use();
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Where arguments and environments have shown a secret since the start. */
  get shown(): readonly Finding[] {
    return [...this.#shown.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watching);
    this.#upstream.close();
    await this.platform[Symbol.asyncDispose]();
  }

  async #use(): Promise<void> {
    const { platform } = this;
    this.#seekGenerated();
    await platform.run(['up', '--json'], { env: { SHELL_SECRET: this.#own.shell } });
    await once(this.#upstream.listen(0, '127.0.0.1'), 'listening');
    const keys = await this.#useKeys();
    await this.#addServers();
    await this.#callTools(keys.good);
    await this.#sendWrongRequests(keys);
    await this.#applyFiles();
    await this.#failToStart();
    await platform.svc('up');
    await platform.kill();
    await platform.svc('up');
    for (const command of [
      'status',
      'logs -n 5000',
      'server list',
      'server show failing',
      'keys list',
      'config check',
      'config show',
    ]) {
      await platform.run([...command.split(' '), '--json']);
      await platform.run(command.split(' '));
    }
  }

  /** What `svc init` made, as text and as the bytes that it stands for. */
  #seekGenerated(): void {
    const files = secretFilesOf(this.platform.installation);
    const encryptionKey = readSecret(files.encryptionKey);
    const { d } = createPrivateKey(readSecret(files.jwtPrivateKey)).export({ format: 'jwk' });
    this.search.seek(
      { name: 'ENCRYPTION_KEY', value: encryptionKey },
      { name: 'ENCRYPTION_KEY, bytes', value: Buffer.from(encryptionKey, 'hex') },
      { name: 'JWT private key', value: readSecret(files.jwtPrivateKey).split('\n')[1] ?? '' },
      { name: 'JWT private key, bytes', value: Buffer.from(d ?? '', 'base64url') },
      { name: 'system key of remote-mcp', value: readSecret(files.remoteMcpKey) },
      { name: 'system key of the runtime', value: readSecret(files.runtimeKey) },
    );
  }

  /** Keys that are good, revoked, expired, mistyped, and put where no key belongs. */
  async #useKeys(): Promise<Keys> {
    const create = async (name: string, ...flags: string[]) => {
      const { stdout } = await this.platform.run(['keys', 'create', '--name', name, '--json', ...flags]);
      const { key } = JSON.parse(stdout);
      this.search.seek({ name: `key "${name}"`, value: key });
      // Here and nowhere else it is shown, once.
      const at = this.platform.printed.lastIndexOf(stdout);
      this.platform.printed[at] = stdout.replace(key, '');
      return key as string;
    };
    const soon = new Date(Date.now() + 5000).toISOString();
    const expired = await create('expired', '--expires', soon);
    const keys = { expired, good: await create('good'), revoked: await create('revoked') };
    await this.platform.svc('keys', 'revoke', 'revoked');
    const mistyped = `${keys.good.slice(0, -1)}${keys.good.endsWith('x') ? 'y' : 'x'}`;
    this.search.seek({ name: 'a key with a typo', value: mistyped });
    await until(() => Date.now() > Date.parse(soon));
    for (const key of [keys.good, keys.revoked, keys.expired, mistyped]) {
      await this.platform.run(['keys', 'test', '--json'], { env: { SVC_API_KEY: key } });
    }
    await this.platform.run(['keys', 'test'], { env: { SVC_API_KEY: mistyped } });
    await this.platform.run(['keys', 'test', '--json'], { stdin: `${keys.good} ${keys.good}\n` });
    const { registerRuntime } = await (await this.platform.backend()).query(
      'mutation { registerRuntime(name: "elsewhere") { secret } }',
      {},
      (data) => data as { registerRuntime: { secret: string } },
    );
    this.search.seek({ name: 'key of a runtime', value: registerRuntime.secret });
    return { ...keys, mistyped };
  }

  async #addServers(): Promise<void> {
    const files = {
      good: ['good.env', `TOKEN=${this.#own.envOfGood}\n`],
      failing: ['failing.env', `TOKEN="${this.#own.envOfFailing}"\n`],
      refused: ['refused.headers', `Authorization: Bearer ${this.#own.headerRefused}\n`],
      unreachable: ['unreachable.headers', `X-Api-Key: ${this.#own.headerUnreachable}\n`],
    } as const;
    const pathOf = (name: keyof typeof files) => join(this.platform.folder, files[name][0]);
    for (const [name, text] of Object.values(files)) writeFileSync(join(this.platform.folder, name), text);
    await this.platform.addServer('good', foreignServers.everything, ['--variable-file', pathOf('good')]);
    const failing = join(this.platform.folder, 'failing.mjs');
    writeFileSync(failing, telling);
    const command = ['--', process.execPath, failing];
    await this.platform.fails('server', 'add', 'failing', '--variable-file', pathOf('failing'), ...command);
    const { port } = this.#upstream.address() as AddressInfo;
    const url = (at: number) => ['--url', `http://127.0.0.1:${at}/mcp`];
    await this.platform.fails('server', 'add', 'refused', ...url(port), '--header-file', pathOf('refused'));
    await this.platform.fails('server', 'add', 'unreachable', ...url(1), '--header-file', pathOf('unreachable'));
    // Once more for people, whose answers are worded otherwise.
    await this.platform.run(['server', 'remove', 'failing']);
    await this.platform.run(['server', 'add', 'failing', '--variable-file', pathOf('failing'), ...command]);
  }

  async #callTools(key: string): Promise<void> {
    await this.platform.addSkill('works', ['good/get-env']);
    await this.platform.addSkill('fails', ['failing/nothing']);
    await this.platform.addRole('All', ['works', 'fails']);
    const agent = await this.platform.connect(key);
    const call = (name: string, args: Record<string, unknown> = {}) => agent.client.callTool({ name, arguments: args });
    for (const skill of ['works', 'fails']) this.errors.push(JSON.stringify(await call('load_skill', { skill })));
    this.errors.push(
      JSON.stringify(await call('list_skills')),
      JSON.stringify(await call('call_tool', { name: 'nothing' })),
    );
    // Its own environment is what a tool may answer to its agent; nobody may write it down.
    expect(JSON.stringify(await call('get-env'))).toContain(this.#own.envOfGood);
  }

  async #sendWrongRequests(keys: Keys): Promise<void> {
    const { mcpUrl } = this.platform;
    const graphql = `http://127.0.0.1:${this.platform.ports.backend}${graphqlPath}`;
    const tell = async (url: string, request: Parameters<typeof send>[1]) =>
      this.errors.push((await send(url, request)).text);
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
      privateKey: readSecret(secretFilesOf(this.platform.installation).jwtPrivateKey),
      issuer: 'service-platform',
      nowMs: Date.now(),
    });
    this.search.seek({ name: 'token of an operator', value: token });
    const env = [{ name: 'TOKEN', value: this.#own.envOfGood }];
    const add = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
    const w = (await this.platform.svc('keys', 'create', '--name', 'of')).workspace.id;
    for (const input of [
      { name: 'n', launch: { command: 'x', env: this.#own.envOfGood } },
      { name: 'n', launch: { command: 'x', env, nothing: this.#own.envOfGood } },
      { name: 'n', launch: { command: 'x', env: [{ name: 'A', value: `${this.#own.envOfGood}\0` }] } },
      { name: 'n', launch: { command: 'x', url: 'https://x', env } },
      { name: 'good', launch: { command: 'x', env } },
      { name: 'n', launch: { command: 'x', env }, runtime: 'nowhere' },
      { name: 'n', launch: { url: `http://user:${this.#own.inUrl}@host/mcp` } },
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

  async #applyFiles(): Promise<void> {
    const file = join(this.platform.folder, 'platform.yaml');
    const [command, ...args] = foreignServers.everything;
    const server = (env: object) =>
      JSON.stringify({ workspace: 'Default', mcpServers: { applied: { command, args, env } } });
    const apply = () =>
      this.platform.run(['apply', file, '--json'], { env: { APPLIED_TOKEN: this.#own.envOfApplied } });
    for (const env of [
      { TOKEN: { fromEnv: 'NOT_SET' } },
      { TOKEN: [this.#own.envOfApplied] },
      { TOKEN: { fromEnv: 'APPLIED_TOKEN' } },
    ]) {
      writeFileSync(file, server(env));
      await apply();
    }
    await apply();
  }

  /** Secrets that are damaged or another's: what does not start says so, and must not say more. */
  async #failToStart(): Promise<void> {
    await this.platform.svc('down');
    const { encryptionKey, jwtPublicKey, runtimeKey } = secretFilesOf(this.platform.installation);
    for (const [file, text] of [
      [encryptionKey, randomBytes(32).toString('hex')],
      [encryptionKey, readSecret(encryptionKey).slice(1)],
      [runtimeKey, readSecret(runtimeKey).slice(1)],
      [jwtPublicKey, readSecret(encryptionKey)],
    ] as const) {
      const right = readFileSync(file);
      writeFileSync(file, text);
      await this.platform.fails('up');
      writeFileSync(file, right);
    }
  }

  /** Of all processes of this machine, because anybody on it may read arguments. */
  #watch(): void {
    for (const finding of this.lookAtProcesses()) this.#shown.set(JSON.stringify(finding), finding);
  }

  lookAtProcesses(): readonly Finding[] {
    const all = new Map(runningProcesses().map((one) => [one.pid, one]));
    all.delete(process.pid);
    return [...all.values()].flatMap((one) => {
      const name = `"${one.command.slice(0, 100)}…"`;
      const inEnvironment = this.search.inText(one.environment, `environment of ${name}`);
      return [
        ...this.search.inText(one.command, `arguments of ${name}`),
        ...inEnvironment.filter(({ secret }) => !this.#isOwn(one, all.get(one.parent), secret)),
      ];
    });
  }

  /** An MCP server has its own secrets, and a command those that its caller gave it: nobody else's. */
  #isOwn(one: RunningProcess, parent: RunningProcess | undefined, secret: string): boolean {
    const { command, environment } = one;
    if (one.parent === process.pid) return true;
    // For a moment each process is a copy of the one that starts it.
    if (parent?.parent === process.pid && parent.command === command && parent.environment === environment) return true;
    return (
      /^HOME=.*\/homes\/srv_/m.test(environment) &&
      /^env(OfGood|OfFailing|OfApplied)$/.test(secret) &&
      this.#valuesIn(environment) === 1
    );
  }

  #valuesIn(environment: string): number {
    return Object.values(this.#own).filter((value) => environment.includes(value)).length;
  }
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
