import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dataOf } from '../../parts/dgraph-node.ts';
import { hasNodeData } from '../../place/node-data.ts';
import { readDefinition } from '../../settings/check.ts';
import { replaceScalar } from '../../settings/yaml-text.ts';
import { freeDgraphPorts } from '../free-ports.ts';
import { hasDgraph, hasNatsServer, Platform, startTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';

vi.setConfig({ testTimeout: 3 * startTimeoutMs });

/** Elections of Dgraph, and nodes that join late. */
const patienceMs = 90_000;

/** A disk that fails takes the folder of one node, while its platform runs. */
describe.skipIf(!hasNatsServer || !hasDgraph)('a node of a real Dgraph that loses its folder', () => {
  let platform: Platform;
  let name: string;
  /** Where the folder of a data node leads to. */
  const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const saved: string[] = [];

  beforeAll(async () => {
    const ports = await freeDgraphPorts(3);
    const settings = (yaml: string) =>
      replaceScalar(
        replaceScalar(yaml, ['graphdb', 'port'], String(ports['dgraph-alpha'])),
        ['graphdb', 'zeroPort'],
        String(ports['dgraph-zero']),
      )
        .replace('dgraph-zero: 1', 'dgraph-zero: 3')
        .replace('dgraph-alpha: 1', 'dgraph-alpha: 2');
    platform = await Platform.init({ topology: 'distributed', graph: 'dgraph', settings });
    ({ name } = readDefinition(platform.installation.definitionFile));
    mkdirSync(dirname(folderOf('dgraph-alpha')));
    symlinkSync(disk, folderOf('dgraph-alpha'));
    await platform.svc('up');
    const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2'];
    const joined = (node: string) => hasNodeData(platform.installation, node);
    await until(() => nodes.every(joined), patienceMs);
    await save();
  }, 3 * startTimeoutMs);
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    rmSync(disk, { recursive: true });
  }, startTimeoutMs);

  async function save(): Promise<void> {
    saved.push(await platform.addRole(`role ${saved.length}`, []));
  }
  async function expectAllThere(): Promise<void> {
    const { roles } = await platform.svc('role', 'list');
    expect(roles.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(saved));
  }
  const stateOf = async (node: string) =>
    (await platform.svc('status')).services.find((service: { name: string }) => service.name === node);
  const folderOf = (node: string) => join(platform.installation.dir, dataOf(node));

  async function kill(node: string): Promise<void> {
    const { pid } = await stateOf(node);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await stateOf(node)).pid === null, patienceMs);
  }

  async function lose(node: string): Promise<void> {
    rmSync(folderOf(node), { recursive: true });
    await kill(node);
    expect(await stateOf(node)).toMatchObject({
      state: 'lost',
      health: 'red',
      reason: expect.stringMatching(
        /^Its data "data\/dgraph\/.*" \(there since 20.*\) is missing, .* svc up --start-empty$/,
      ),
    });
  }

  async function replace(node: string): Promise<void> {
    const { services, state } = await platform.svc('up', '--start-empty', '--confirm', name);
    expect(state).toBe('running');
    expect(services.every(({ state }: { state: string }) => state === 'healthy')).toBe(true);
    await expectAllThere();
    await save();
    expect(existsSync(folderOf(node))).toBe(true);
  }

  test.each(['dgraph-zero', 'dgraph-zero-3'])('%s is kept out, the others serve, and it is replaced', async (node) => {
    await lose(node);
    await vi.waitFor(save, { timeout: patienceMs });
    const { state } = await platform.svc('up');
    expect(state).toBe('degraded');
    expect(existsSync(folderOf(node))).toBe(false);
    await replace(node);
  });

  test.each(['dgraph-alpha-2', 'dgraph-alpha'])(
    '%s is kept out, the other one is read, and it is replaced',
    async (node) => {
      await lose(node);
      await expectAllThere();
      const { json } = await platform.fails('up');
      expect(json.error).toMatchObject({ code: 'not_found', message: expect.stringContaining(`"${dataOf(node)}"`) });
      expect(json.error.hint).toContain('svc up --start-empty');
      expect(existsSync(folderOf(node))).toBe(false);
      await replace(node);
      expect(lstatSync(folderOf(node)).isSymbolicLink()).toBe(false);
    },
  );

  test('dgraph-zero-2 whose data cannot be read is kept out, never copied over, and comes back', async () => {
    const folder = folderOf('dgraph-zero-2');
    renameSync(folder, `${folder}.away`);
    symlinkSync(folder, folder);
    await kill('dgraph-zero-2');
    const reason = expect.stringContaining('cannot be read (its symbolic links form a circle)');
    expect(await stateOf('dgraph-zero-2')).toMatchObject({ state: 'lost', reason });
    await vi.waitFor(save, { timeout: patienceMs });
    expect((await platform.svc('up', '--start-empty', '--confirm', name)).state).toBe('degraded');
    expect(lstatSync(folder).isSymbolicLink()).toBe(true);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    expect((await platform.svc('up')).state).toBe('running');
    await expectAllThere();
  });

  test('what was copied is read alone, where the node that it was copied from is away', async () => {
    const { pid } = await stateOf('dgraph-alpha-2');
    process.kill(pid, 'SIGSTOP');
    try {
      await vi.waitFor(expectAllThere, { timeout: patienceMs });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('too many are refused, and what is left stays', async () => {
    await vi.waitFor(save, { timeout: patienceMs });
    await platform.svc('down');
    for (const node of ['dgraph-zero', 'dgraph-zero-2']) rmSync(folderOf(node), { recursive: true });
    for (const flags of [[], ['--start-empty', '--confirm', name]]) {
      const { json } = await platform.fails('up', ...flags);
      expect(json.error).toMatchObject({
        code: 'not_found',
        hint: expect.stringContaining('Restore data/dgraph from a backup'),
      });
    }
    expect(existsSync(folderOf('dgraph-zero-3'))).toBe(true);
  });
});
