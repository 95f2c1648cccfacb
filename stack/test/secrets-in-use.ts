import { createPrivateKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { graphqlPath } from '../../services/contracts/token.ts';
import { send } from '../../services/remote-mcp/test/raw.ts';
import { registerRuntimeMutation } from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { readSecret, secretFilesOf } from '../secrets/secrets.ts';
import { foreignServers } from './foreign-servers.ts';
import { Platform, withJson } from './platform.ts';
import { type RunningProcess, runningProcesses } from './running-processes.ts';
import { type Finding, SecretSearch } from './secret-search.ts';
import { until } from './until.ts';

const watchEveryMs = 100;

export function newSecret(): string {
  return `s3cret-${randomBytes(18).toString('base64url')}`;
}

/** A platform that logs everything, and does every action that involves a secret, with success and without. */
export class SecretsInUse {
  readonly platform: Platform;
  /** Knows all secrets of this platform. */
  readonly search = new SecretSearch();
  /** Error answers, as their callers read them. */
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
  /** Secrets seen in arguments and environments, where they had no right to be, since the start; each once. */
  readonly shown = new Map<string, Finding>();
  /** Watches all processes of this machine, because any user may read arguments. */
  readonly #watching = setInterval(() => {
    for (const finding of this.lookAtProcesses()) this.shown.set(JSON.stringify(finding), finding);
  }, watchEveryMs);
  /** An MCP server that repeats the credential it refuses. */
  readonly #upstream = createServer(({ headers: { authorization } }, response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer error="${authorization}"` }).end(`no: ${authorization}`);
  });

  private constructor(platform: Platform) {
    this.platform = platform;
    for (const [name, value] of Object.entries(this.#own)) this.search.seek({ name, value });
  }

  static async start(): Promise<SecretsInUse> {
    const settings = (yaml: string) => yaml.replace('level: info', 'level: trace');
    const started = new SecretsInUse(await Platform.init({ settings }));
    try {
      await started.#use();
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
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
    const key = await this.#useKeys();
    await this.#addServers();
    await this.#callTools(key);
    await this.#sendWrongRequests();
    await this.#applyFiles();
    await this.#failToStart();
    await platform.svc('up');
    await platform.kill();
    await platform.svc('up');
    const commands = [
      'status',
      'logs -n 5000',
      'server list',
      'server show failing',
      'keys list',
      'config check',
      'config show',
    ];
    const typed = commands.map((command) => command.split(' '));
    await Promise.all(typed.flatMap((args) => [platform.run(args), platform.run(withJson(args))]));
  }

  /** Adds the secrets that `svc init` made, as text and as bytes. */
  #seekGenerated(): void {
    const { jwtPublicKey: _, jwtPrivateKey, ...files } = secretFilesOf(this.platform.installation);
    const texts = Object.entries(files).filter(([, file]) => existsSync(file));
    this.search.seek(...texts.map(([name, file]) => ({ name, value: readSecret(file) })));
    const pem = readSecret(jwtPrivateKey);
    const { d } = createPrivateKey(pem).export({ format: 'jwk' });
    this.search.seek(
      { name: 'encryptionKey, bytes', value: Buffer.from(readSecret(files.encryptionKey), 'hex') },
      { name: 'jwtPrivateKey', value: pem.split('\n')[1] ?? '' },
      { name: 'jwtPrivateKey, bytes', value: Buffer.from(d ?? '', 'base64url') },
    );
  }

  /** Uses keys that are valid, revoked, expired, mistyped, and in wrong places. Returns the valid key. */
  async #useKeys(): Promise<string> {
    const create = async (name: string, ...flags: string[]) => {
      const { stdout } = await this.platform.run(['keys', 'create', '--name', name, '--json', ...flags]);
      const { key } = JSON.parse(stdout);
      this.search.seek({ name: `key "${name}"`, value: key });
      // Only this output shows the key, and only once.
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
    const [backend, workspace] = [await this.platform.backend(), await this.platform.workspace()];
    const { registerRuntime } = await backend.send(registerRuntimeMutation, { workspace, name: 'elsewhere' });
    this.search.seek({ name: 'key of a runtime', value: registerRuntime.secret });
    return keys.good;
  }

  async #addServers(): Promise<void> {
    const { platform } = this;
    const good = this.#write('good.env', `TOKEN=${this.#own.envOfGood}\n`);
    await platform.addServer('good', foreignServers.everything, ['--variable-file', good]);
    const variables = this.#write('failing.env', `TOKEN="${this.#own.envOfFailing}"\n`);
    const program = this.#write('failing.mjs', telling);
    const failing = `server add failing --variable-file ${variables} -- ${process.execPath} ${program}`.split(' ');
    await platform.fails(...failing);
    const { port } = this.#upstream.address() as AddressInfo;
    const refused = this.#write('refused.headers', `Authorization: Bearer ${this.#own.headerRefused}\n`);
    const unreachable = this.#write('unreachable.headers', `X-Api-Key: ${this.#own.headerUnreachable}\n`);
    const at = (port: number, file: string) => ['--url', `http://127.0.0.1:${port}/mcp`, '--header-file', file];
    await platform.fails('server', 'add', 'refused', ...at(port, refused));
    await platform.fails('server', 'add', 'unreachable', ...at(1, unreachable));
    // Repeats the command with output for people, which has other words.
    await platform.run(['server', 'remove', 'failing']);
    await platform.run(failing);
  }

  /** Writes a file beside the installation. */
  #write(name: string, text: string): string {
    const file = join(this.platform.folder, name);
    writeFileSync(file, text);
    return file;
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
    // A tool may return its own environment to its agent, but no service may write it down.
    expect(JSON.stringify(await call('get-env'))).toContain(this.#own.envOfGood);
  }

  async #sendWrongRequests(): Promise<void> {
    const graphql = `http://127.0.0.1:${this.platform.ports.backend}${graphqlPath}`;
    const token = operatorTokens(this.platform.installation, undefined)();
    this.search.seek({ name: 'token of an operator', value: token });
    const env = [{ name: 'TOKEN', value: this.#own.envOfGood }];
    const add = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
    const w = await this.platform.workspace();
    for (const input of [
      { name: 'n', launch: { command: 'x', env: this.#own.envOfGood } },
      { name: 'n', launch: { command: 'x', env, nothing: this.#own.envOfGood } },
      { name: 'n', launch: { command: 'x', env: [{ name: 'A', value: `${this.#own.envOfGood}\0` }] } },
      { name: 'n', launch: { command: 'x', url: 'https://x', env } },
      { name: 'good', launch: { command: 'x', env } },
      { name: 'n', launch: { command: 'x', env }, runtime: 'nowhere' },
      { name: 'n', launch: { url: `http://user:${this.#own.inUrl}@host/mcp` } },
    ]) {
      const literal = JSON.stringify(input).replaceAll(/"(\w+)":/g, '$1: ');
      for (const body of [
        { query: add, variables: { w, input } },
        { query: `mutation { createMcpServer(workspace: "${w}", input: ${literal}) { id } }` },
        { query: `{ nothing(a: ${literal}` },
      ]) {
        this.errors.push((await send(graphql, { key: token, body })).text);
      }
    }
  }

  async #applyFiles(): Promise<void> {
    const [command, ...args] = foreignServers.everything;
    const fromEnv = { TOKEN: { fromEnv: 'APPLIED_TOKEN' } };
    for (const env of [{ TOKEN: { fromEnv: 'NOT_SET' } }, { TOKEN: [this.#own.envOfApplied] }, fromEnv, fromEnv]) {
      const wanted = { workspace: 'Default', mcpServers: { applied: { command, args, env } } };
      const file = this.#write('platform.yaml', JSON.stringify(wanted));
      await this.platform.run(['apply', file, '--json'], { env: { APPLIED_TOKEN: this.#own.envOfApplied } });
    }
  }

  /** Uses damaged and foreign secrets: a platform that does not start reports this, and must not print more. */
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

  /** An MCP server may hold its own secrets, and a command those of its caller; neither may hold others. */
  #isOwn(one: RunningProcess, parent: RunningProcess | undefined, secret: string): boolean {
    const { command, environment } = one;
    if (one.parent === process.pid) return true;
    // For a moment, each process is a copy of its parent.
    if (parent?.parent === process.pid && parent.command === command && parent.environment === environment) return true;
    return (
      /^SVC_MCP_SERVER_INSTANCE=/m.test(environment) &&
      /^env(OfGood|OfFailing|OfApplied)$/.test(secret) &&
      this.#valuesIn(environment) === 1
    );
  }

  #valuesIn(environment: string): number {
    return Object.values(this.#own).filter((value) => environment.includes(value)).length;
  }
}

/** A program that prints its secret in every form before it ends. */
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
