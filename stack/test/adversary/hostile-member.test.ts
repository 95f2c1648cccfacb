import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { payloadMaxBytes } from '../../../services/kit/bus/bus.ts';
import { type HttpMcpServer, httpMcpServer } from '../../../services/runtime/test/http-mcp-server.ts';
import { canSandbox } from '../../../services/runtime/test/sandboxed.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import {
  changedSettingsQuery,
  createMcpServerMutation,
  createWorkspaceMutation,
  type LaunchInput,
  type McpServerPatch,
  mcpServerQuery,
  registerRuntimeMutation,
  removeMcpServerMutation,
  updateMcpServerMutation,
} from '../../client/generated/operations.ts';
import type { Topology } from '../../settings/choices.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { memberClient } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The owner of a workspace, who is no operator, attacks the machine of the platform with one launch per row. Rows run
 * side by side; after each, no secret was read and no file was planted outside.
 */
const packageRoot = join(import.meta.dirname, '../../..');

/**
 * A path beside the installation `svc`. Members may have working directories below `shared`; `other` is another
 * installation.
 */
const at = (...names: readonly string[]) => join(platform.folder, ...names);

/** A program that reports on standard error what it could read and write, and ends. */
const probe = (): string => `
  const { readFileSync, writeFileSync } = require('node:fs');
  const tryTo = (work) => { try { return work(); } catch ({ code }) { return code; } };
  const seen = {
    secret: tryTo(() => readFileSync(${JSON.stringify(at('svc/secrets/system-runtime.key'))}, 'utf8').slice(0, 4)),
    planted: tryTo(() => { writeFileSync('planted-by-a-member', ''); return 'done'; }),
  };
  console.error('probe ' + JSON.stringify(seen));
  process.exit(1);`;

const probing = (command = 'node') => ({ command, args: ['-e', probe()] });
const setting = (name: string, value: string) => [{ name, value }];

const workingDirectories: readonly (readonly [attack: string, cwd: () => string])[] = [
  ['in the installed package', () => join(packageRoot, 'templates')],
  ['in the installation', () => at('svc/secrets')],
  ['of the installation', () => at('svc')],
  ['in another installation', () => at('other')],
  ['in the home of root', () => '/root'],
  ['in the home of the operator', () => homedir()],
  ['in the state of the system', () => '/var/lib'],
  ['of the whole machine', () => '/'],
  ['behind a link below the named folder', () => at('shared/project/way-out')],
  ['behind dots below the named folder', () => `${at('shared')}/project/../../svc/secrets`],
  ['that is the named folder itself', () => at('shared')],
];

/** A launch of a probe in a project below the folder for members. */
const inProject = (name: string, value: string, command = process.execPath): LaunchInput => ({
  ...probing(command),
  cwd: at('shared/project'),
  env: setting(name, value),
});

const commands: readonly (readonly [attack: string, launch: () => LaunchInput])[] = [
  ['a command', () => probing()],
  ['a command in a project that is named for members', () => ({ ...probing(), cwd: at('shared/project') })],
  ['the variable LD_PRELOAD', () => inProject('LD_PRELOAD', at('shared/project/bwrap'))],
  ['the variable BASH_ENV', () => inProject('BASH_ENV', at('shared/project/bwrap'))],
  ['the variable PATH', () => inProject('PATH', at('shared/project'))],
  ['options of Node', () => inProject('NODE_OPTIONS', `--require ${at('shared/project/plant.cjs')}`, 'node')],
];

/** On an idle machine, it takes a second. */
const connectedMaxMs = 15_000;

let platform: Platform;
let operator: BackendClient;
let member: BackendClient;
let workspace: string;
let count = 0;

async function makeGrounds(): Promise<void> {
  await mkdir(at('shared/project'), { recursive: true });
  await mkdir(at('other/secrets'), { recursive: true });
  await writeFile(at('other/svc.yaml'), '');
  await symlink(at('svc/secrets'), at('shared/project/way-out'));
  const plant = at('planted-by-a-member');
  await writeFile(at('shared/project/bwrap'), `#!/bin/sh\ntouch '${plant}'\n`, { mode: 0o755 });
  const program = `try { require('node:fs').writeFileSync('${plant}', ''); } catch {}`;
  await writeFile(at('shared/project/plant.cjs'), program);
}

async function start(topology: Topology): Promise<void> {
  platform = await Platform.init({ topology });
  await makeGrounds();
  platform.edit('memberFolders: []', `memberFolders: [${at('shared')}]`);
  await platform.svc('up');
  operator = await platform.backend();
  const made = z.object({ createWorkspace: z.object({ id: z.string() }) });
  const text = 'mutation { createWorkspace(input: { name: "Theirs", ownerEmail: "member@example.com" }) { id } }';
  const { createWorkspace } = made.parse(await operator.send({ text }, {}));
  workspace = createWorkspace.id;
  member = await memberClient(platform, 'member@example.com');
}

interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly repair: string;
  /** The report of the probe; null where it did not run. */
  readonly seen: { readonly secret: string; readonly planted: string } | null;
}

/** The outcome of a launch, as the member sees it. */
async function outcomeOf(id: string, isMeant: (outcome: Outcome) => boolean = () => true): Promise<Outcome> {
  let outcome: Outcome | null = null;
  await until(async () => {
    const { status, reason, stderr } = await readServer(id);
    if (status !== 'Error' || reason === null) return false;
    const { code, message, repair } = reason;
    const line = stderr.find((one) => one.startsWith('probe '));
    outcome = { code, message, repair, seen: line === undefined ? null : JSON.parse(line.slice('probe '.length)) };
    return isMeant(outcome);
  });
  return outcome ?? expect.fail('no outcome');
}

async function readServer(id: string) {
  const seen = await member.send(mcpServerQuery, { workspace, id });
  return seen.workspace?.mcpServer ?? expect.fail(`${id} is gone`);
}

interface Setting {
  readonly by?: BackendClient;
  readonly at?: string;
}

async function set(launch: LaunchInput, { by = member, at = workspace }: Setting = {}): Promise<string> {
  const variables = { workspace: at, input: { name: `attack${++count}`, launch } };
  return (await by.send(createMcpServerMutation, variables, { timeoutMs: 60_000 })).createMcpServer.id;
}

/** Sets a launch as the member, waits for its outcome and removes it. */
async function tried(launch: LaunchInput): Promise<Outcome> {
  const id = await set(launch);
  const outcome = await outcomeOf(id);
  await remove(id);
  return outcome;
}

async function update(id: string, launch: LaunchInput): Promise<void> {
  await member.send(updateMcpServerMutation, { workspace, id, input: { launch } });
}

async function remove(id: string): Promise<void> {
  await member.send(removeMcpServerMutation, { workspace, id });
}

function planted(): readonly string[] {
  const places = [packageRoot, join(packageRoot, 'templates'), '/root', homedir(), '/var/lib', '/'];
  const all = [...places, ...['.', 'svc', 'svc/secrets', 'other', 'shared'].map((name) => at(name))];
  return all.filter((folder) => existsSync(join(folder, 'planted-by-a-member')));
}

const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
/** The address of this machine in a network; the loopback address where it has none. */
const ownIp = ownAddresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
const loopback = ', which is a loopback';

/** URLs into the machine and its network, each with the words about the host in the member's message. */
const innerUrls: readonly (readonly [attack: string, url: () => string, what: string])[] = [
  ['the backend', () => `http://127.0.0.1:${platform.ports.backend}/graphql`, `127.0.0.1${loopback} address`],
  ['the runtime', () => `http://127.0.0.1:${platform.ports.runtime}/health`, `127.0.0.1${loopback} address`],
  ['remote-mcp', () => platform.mcpUrl, `127.0.0.1${loopback} address`],
  ['a number', () => `http://2130706433:${platform.ports.backend}/`, `127.0.0.1${loopback} address`],
  ['IPv4 in IPv6', () => `http://[::ffff:127.0.0.1]:${platform.ports.backend}/`, `::ffff:7f00:1${loopback}`],
  [
    'the service of a cloud',
    () => 'http://169.254.169.254/latest/meta-data/',
    '169.254.169.254, which is a link-local',
  ],
  ['this machine by its own address', () => `http://${ownIp}:${platform.ports.backend}/`, `${ownIp}, which is a`],
  ['a private network', () => 'https://10.0.0.1/', '10.0.0.1, which is a private address'],
  ['a name', () => `http://localhost:${platform.ports.backend}/`, 'localhost, which has no public address'],
  ['a name that does not exist', () => 'http://intranet.invalid/', 'intranet.invalid, which has no public address'],
];

onEachTopology((topology) => {
  let served: HttpMcpServer;
  beforeAll(async () => {
    served = await httpMcpServer();
    await start(topology);
  }, startTimeoutMs);
  afterAll(async () => {
    served.close();
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  describe.runIf(canSandbox)('a member who is no operator', () => {
    test.concurrent.each(commands)('gains nothing by %s', async (_attack, launch) => {
      expect((await tried(launch())).seen).toEqual({ secret: 'ENOENT', planted: 'done' });
      expect(planted()).toEqual([]);
    });

    test.concurrent.each(workingDirectories)('gains nothing by a working directory %s', async (_attack, cwd) => {
      expect(await tried({ ...probing(), cwd: cwd() })).toEqual({
        code: 'folder_not_named',
        message: expect.stringMatching(/"attack\d+"/),
        repair: expect.stringContaining('svc.yaml'),
        seen: null,
      });
      expect(planted()).toEqual([]);
    });

    test('gains nothing by changing one variable of an operator’s command', async () => {
      const typed = 'server add ours --workspace Theirs -- node'.split(' ');
      const added = await platform.run([...typed, ...probing().args]);
      expect(added.code).not.toBe(null);
      const readOurs = () => platform.svc('server', 'show', 'ours', '--workspace', 'Theirs');
      const { id, launch } = await readOurs();
      expect(launch.setBy).toBe('operator');
      // The operator's MCP server runs as the user of the platform, and could read all files of this user.
      expect((await outcomeOf(id)).seen?.secret).toBe('SYK_');
      await update(id, { ...probing(), env: setting('CHANGED', 'alone') });
      const { seen } = await outcomeOf(id, (outcome) => outcome.seen?.secret === 'ENOENT');
      expect(seen?.planted).toBe('done');
      expect((await readOurs()).launch.setBy).toBe('member');
      await remove(id);
    });
  });

  test('a member gets no secret value of an operator’s launch', async () => {
    const env = setting('TOKEN', 'secret-of-the-operator');
    const id = await set({ ...probing('true'), env }, { by: operator });
    await member.send(registerRuntimeMutation, { workspace, name: 'of-the-member' });
    const attacks: readonly McpServerPatch[] = [
      { launch: { command: 'env', args: [], env: [{ name: 'TOKEN' }] } },
      { launch: { url: 'https://mcp.example/', headers: [{ name: 'TOKEN' }] } },
      { launch: { ...probing('true'), env: [{ name: 'TOKEN', secret: false }] } },
      { runtime: 'of-the-member' },
    ];
    for (const input of attacks) {
      const attack = member.send(updateMcpServerMutation, { workspace, id, input });
      await expect(attack).rejects.toThrow(/only an operator may use its secret values|no stored value/);
    }
    const launch = { ...probing('true'), env };
    const guess = member.send(changedSettingsQuery, { workspace, id, launch });
    await expect(guess).rejects.toThrow(/only an operator may use its secret values/);
    const seen = await readServer(id);
    expect(seen.launch).toMatchObject({ setBy: 'operator', env: [{ name: 'TOKEN', value: null }] });
    expect(JSON.stringify(seen)).not.toContain('secret-of-the-operator');
    await remove(id);
  });

  describe('a URL of a member', () => {
    test.concurrent.each(innerUrls)('does not reach %s', async (_attack, url, what) => {
      const { code, message, repair } = await tried({ url: url() });
      expect(code).toBe('address_refused');
      expect(message.replace(/"attack\d+"/, 'NAME')).toContain(`The URL of the MCP server NAME leads to ${what}`);
      expect(repair).toContain('runtime.allowedAddresses in svc.yaml');
    });

    test('is refused where an operator set the same URL before, and reached once the operator allows the address', async () => {
      const { url } = served.launch();
      const id = await set({ url }, { by: operator });
      await until(async () => (await readServer(id)).status === 'Connected');
      const requestsBefore = served.asked.length;
      await update(id, { url, headers: setting('x-chosen', 'by the member') });
      expect((await outcomeOf(id)).code).toBe('address_refused');
      expect(served.asked.slice(requestsBefore).filter(({ headers }) => 'x-chosen' in headers)).toEqual([]);
      platform.edit('allowedAddresses: []', 'allowedAddresses: [127.0.0.1]');
      await platform.svc('up');
      await until(async () => (await readServer(id)).status === 'Connected');
      expect(served.asked.at(-1)?.headers['x-chosen']).toBe('by the member');
      await remove(id);
    });

    test('may not carry headers of the connection', async () => {
      const launch = { url: 'https://mcp.example/', headers: setting('Transfer-Encoding', 'chunked') };
      await expect(set(launch)).rejects.toThrow(/"Transfer-Encoding\W+ in \W+headers\W+ belongs to the connection/);
    });
  });

  test('with none-for-everybody members run any command', { timeout: startTimeoutMs }, async () => {
    platform.edit('sandbox: auto', 'sandbox: none-for-everybody');
    await platform.svc('up');
    const id = await set({ ...probing(), cwd: platform.folder });
    expect((await outcomeOf(id)).seen).toEqual({ secret: 'SYK_', planted: 'done' });
    expect(planted()).toEqual([at('.')]);
  });

  // Over NATS a runtime gets launches in messages of limited size.
  const title =
    'launches that are together larger than a message keep no MCP server of another workspace from starting';
  if (topology === 'distributed') {
    test(title, { timeout: startTimeoutMs }, async () => {
      const large = (length: number): LaunchInput => ({
        url: 'https://10.0.0.1/',
        headers: Array.from({ length: 250 }, (_, i) => ({ name: `x-${i}`, value: 'v'.repeat(length) })),
      });
      await expect(set(large(14_000))).rejects.toThrow(/the launch has \d+ bytes as JSON, and may have 65536 at most/);
      const ids: string[] = [];
      // A user may have few changes under way at once.
      while (ids.length < payloadMaxBytes / 60_000) {
        ids.push(...(await Promise.all(Array.from({ length: 8 }, () => set(large(240))))));
      }
      const input = { name: 'Victims', ownerEmail: 'victim@example.com' };
      const victims = (await operator.send(createWorkspaceMutation, { input })).createWorkspace.id;
      const id = await set({ url: served.launch().url }, { by: operator, at: victims });
      const victim = () => operator.send(mcpServerQuery, { workspace: victims, id });
      await until(async () => (await victim()).workspace?.mcpServer?.status === 'Connected', connectedMaxMs);
      const isTooLarge = ({ code }: Outcome) => code === 'launch_too_large';
      const { code, repair } = await outcomeOf(ids.at(-1) ?? '', isTooLarge);
      expect(code).toBe('launch_too_large');
      expect(repair).toContain('svc runtime register');
    });
  }
});
