import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dataOf } from '../../parts/dgraph.ts';
import { readNodeData } from '../../place/node-data.ts';
import { readDefinition } from '../../settings/check.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import { freeDgraphPorts } from '../free-ports.ts';
import { hasDgraph, hasNatsServer, Platform, startTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';

vi.setConfig({ testTimeout: 5 * startTimeoutMs });

/** Time for elections of Dgraph, and for nodes that join late. */
const patienceMs = 90_000;

/** A failing disk loses the folder of one node, while its platform runs. */
describe.skipIf(!hasNatsServer || !hasDgraph)('a node of a real Dgraph that loses its folder', () => {
  let platform: Platform;
  let name: string;
  /** A disk with room for backups, and for folders that are moved away. */
  const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const saved: string[] = [];

  beforeAll(async () => {
    const ports = await freeDgraphPorts(3);
    const settings = (yaml: string) => {
      const withPort = replaceScalar(yaml, ['graphdb', 'port'], String(ports['dgraph-alpha']));
      return replaceScalar(withPort, ['graphdb', 'zeroPort'], String(ports['dgraph-zero']));
    };
    const replicas = { 'dgraph-zero': 3, 'dgraph-alpha': 2 };
    platform = await Platform.init({ topology: 'distributed', graph: 'dgraph', replicas, settings });
    ({ name } = readDefinition(platform.installation.definitionFile));
    await platform.svc('up');
    await allJoined();
    await save();
  }, 3 * startTimeoutMs);
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    rmSync(disk, { recursive: true });
  }, startTimeoutMs);

  async function allJoined(): Promise<void> {
    const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'];
    await until(() => nodes.every((node) => readNodeData(platform.installation, node) === 'present'), patienceMs);
  }
  async function save(): Promise<void> {
    saved.push(await platform.addRole(`role ${saved.length}`, []));
  }
  async function expectAllThere(): Promise<void> {
    const { roles } = await platform.svc('role', 'list');
    expect(roles.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(saved));
  }
  const stateOf = async (node: string) => (await platform.services()).get(node);
  const folderOf = (node: string) => join(platform.installation.dir, dataOf(node));

  async function kill(node: string): Promise<void> {
    process.kill((await stateOf(node))?.pid ?? expect.fail(`${node} does not run`), 'SIGKILL');
    await until(async () => (await stateOf(node))?.pid === null, patienceMs);
  }

  async function lose(node: string): Promise<void> {
    rmSync(folderOf(node), { recursive: true });
    await kill(node);
    const reason = expect.stringMatching(
      /^Its data is missing, so the node is not started: "data\/dgraph\/.*" \(there since 20.*\)\. .* svc backup FILE, then svc restore FILE$/,
    );
    expect(await stateOf(node)).toMatchObject({ state: 'lost', health: 'red', reason });
  }

  let backups = 0;
  async function backUp(): Promise<string> {
    const file = join(disk, `${++backups}.backup.gz`);
    await platform.svc('backup', file);
    return file;
  }

  /** Empties all places of the data and fills them again, with four starts of the cluster. */
  async function restore(file: string, ...flags: readonly string[]): Promise<void> {
    const { code, stderr } = await platform.run(['restore', file, ...flags], { timeoutMs: 4 * startTimeoutMs });
    expect(code, stderr).toBe(0);
  }

  async function expectAllHealthy(): Promise<void> {
    const { services, state } = await platform.svc('status');
    expect([state, services.filter(({ state }: { state: string }) => state !== 'healthy')]).toEqual(['running', []]);
    await expectAllThere();
    await save();
    await allJoined();
  }

  test.each(['dgraph-zero', 'dgraph-zero-3'])(
    '%s is kept out, the others serve, and a restore fills it',
    async (node) => {
      await lose(node);
      await vi.waitFor(save, { timeout: patienceMs });
      expect((await platform.svc('up')).state).toBe('degraded');
      expect(existsSync(folderOf(node))).toBe(false);
      await restore(await backUp(), '--over', name);
      await expectAllHealthy();
      await platform.svc('restore', '--confirm');
      expect((await platform.svc('up')).state).toBe('running');
    },
  );

  test('dgraph-zero-2 whose data cannot be read is kept out, never written over, and comes back', async () => {
    const folder = folderOf('dgraph-zero-2');
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder);
    await kill('dgraph-zero-2');
    const reason = expect.stringMatching(/cannot be read, .*\(its symbolic links form a circle\)/);
    expect(await stateOf('dgraph-zero-2')).toMatchObject({ state: 'lost', reason });
    await vi.waitFor(save, { timeout: patienceMs });
    expect((await platform.svc('up', '--start-empty', '--confirm', name)).state).toBe('degraded');
    const { json } = await platform.fails('restore', await backUp(), '--over', name);
    expect(json.error).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('Repair the disk') });
    expect(lstatSync(folder).isSymbolicLink()).toBe(true);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    expect((await platform.svc('up')).state).toBe('running');
    await expectAllThere();
  });

  test('one of two data nodes: the other one is read, nothing starts, and an older backup fills both', async () => {
    const file = await backUp();
    await lose('dgraph-alpha-2');
    await expectAllThere();
    const refused = await platform.fails('up');
    expect(refused.json.error).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(`no majority: "${dataOf('dgraph-alpha-2')}"`),
      hint: expect.stringContaining('svc restore FILE'),
    });
    // The data from before could not be kept, so the restore is refused before any part stops.
    const { json } = await platform.fails('restore', file, '--over', name);
    expect(json.error.hint).toBe('To restore without it: Move it to a folder outside of data/: data/nats data/dgraph');
    await expectAllThere();
    expect(existsSync(folderOf('dgraph-alpha-2'))).toBe(false);
    const { json: unread } = await platform.fails('backup', join(disk, 'unread.backup.gz'));
    expect(unread.error.message).toContain('no majority');
    await platform.svc('down');
    mkdirSync(join(disk, 'away'));
    for (const one of ['nats', 'dgraph']) renameSync(join(platform.installation.dataDir, one), join(disk, 'away', one));
    await restore(file);
    expect((await platform.svc('up')).state).toBe('running');
    await expectAllHealthy();
  });

  test('too many are refused, and the remaining data stays', async () => {
    await vi.waitFor(save, { timeout: patienceMs });
    await platform.svc('down');
    for (const node of ['dgraph-zero', 'dgraph-zero-2']) rmSync(folderOf(node), { recursive: true });
    for (const flags of [[], ['--start-empty', '--confirm', name]]) {
      const { json } = await platform.fails('up', ...flags);
      expect(json.error).toMatchObject({ code: 'not_found', hint: expect.stringContaining('svc restore FILE') });
    }
    expect(existsSync(folderOf('dgraph-zero-3'))).toBe(true);
  });
});
