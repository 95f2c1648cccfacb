import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { nodesInFolders } from '../engines/process/nodes-in-folders.ts';
import type { PartRunner } from '../engines/process/part-runner.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { SupervisedPart } from '../engines/process/supervised-part.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { status } from '../operations/status.ts';
import { dataOf } from '../parts/dgraph-node.ts';
import { type Part, readyAt } from '../parts/part.ts';
import { judgeLostNodes } from '../place/judge-lost-nodes.ts';
import { forgetData, recordData, settleLostData } from '../place/kept-data.ts';
import { lossOf } from '../place/loss-of.ts';
import { hasNodeData } from '../place/node-data.ts';
import type { StartEmpty } from '../place/settle-losses.ts';
import { settlePlace } from '../place/settle-place.ts';
import { checkDefinition, readDefinition } from '../settings/check.ts';
import { usualPorts } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import { installationIn } from '../state/installation.ts';
import { readPlace, writePlace } from '../state/place-record.ts';
import type { ServiceState } from '../state/transition.ts';
import { nodeFolder, writeInNode, writeNode } from '../test/made-up-node.ts';
import { fillNodes, type NodePlaces } from './fill-nodes.ts';
import { keptInFiles } from './kept-by.ts';
import { refuseFewerNodes } from './refuse-fewer-nodes.ts';

let dir: string;
let installation: Installation;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-lost-nodes-'));
  ({ installation } = await createInstallation({ dir: join(dir, 'svc'), topology: 'distributed', graph: 'dgraph' }));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const folderOf = (node: string) => nodeFolder(installation, node);
const lose = (node: string) => rmSync(folderOf(node), { recursive: true });

function replicas(zeros: number, alphas: number) {
  const text = readFileSync(installation.definitionFile, 'utf8')
    .replace(/dgraph-zero: \d/, `dgraph-zero: ${zeros}`)
    .replace(/dgraph-alpha: \d/, `dgraph-alpha: ${alphas}`);
  writeFileSync(installation.definitionFile, text);
  return readDefinition(installation.definitionFile);
}

const write = (node: string, name: string, content: string | Buffer) => writeInNode(installation, node, name, content);

/** A cluster that ran once. */
function ranWith(zeros: number, alphas: number): void {
  const definition = replicas(zeros, alphas);
  const names = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => (index === 0 ? kind : `${kind}-${index + 1}`));
  for (const [index, node] of [...names('dgraph-zero', zeros), ...names('dgraph-alpha', alphas)].entries())
    writeNode(installation, node, index + 1);
  recordData(installation, definition);
}

const settle = (startEmpty: StartEmpty | null = null, notices: string[] = [], mayKeepOut = true) =>
  settleLostData({
    installation,
    definition: readDefinition(installation.definitionFile),
    startEmpty,
    mayKeepOut,
    onNotice: (message) => void notices.push(message),
  });
/** The nodes that shall get a copy. */
const check = async (...asked: Parameters<typeof settle>) => (await settle(...asked)).copied;
const fill = (nodes: readonly string[]) => {
  const onNotice = () => undefined;
  const plan = readPlan(installation);
  const places = nodesInFolders({ plan, signal: new AbortController().signal, onNotice });
  return fillNodes({ definition: plan.definition, nodes, places, onNotice });
};
const agree = async () => undefined;

describe('which nodes of Dgraph may be missing', () => {
  test.each([
    { nodes: [3, 2], lost: ['dgraph-zero'], verdict: { keptOut: ['dgraph-zero'] } },
    { nodes: [3, 2], lost: ['dgraph-alpha-2'], verdict: { awaited: ['dgraph-alpha-2'] } },
    { nodes: [3, 3], lost: ['dgraph-alpha'], verdict: { keptOut: ['dgraph-alpha'] } },
    { nodes: [1, 1], lost: ['dgraph-alpha'], verdict: { hopeless: ['dgraph-alpha'] } },
    { nodes: [3, 2], lost: ['dgraph-zero', 'dgraph-zero-3'], verdict: { hopeless: ['dgraph-zero', 'dgraph-zero-3'] } },
    {
      nodes: [3, 2],
      lost: ['dgraph-zero-2', 'dgraph-alpha'],
      verdict: { keptOut: ['dgraph-zero-2'], awaited: ['dgraph-alpha'] },
    },
    { nodes: [1, 2], lost: ['dgraph-zero', 'dgraph-alpha', 'dgraph-alpha-2'], verdict: {} },
  ])('$nodes without $lost', ({ nodes: [zeros = 1, alphas = 1], lost, verdict }) => {
    const definition = replicas(zeros, alphas);
    const gone = lost.map((node) => ({ path: dataOf(node), since: 'then' }));
    const judged = judgeLostNodes(definition, gone, (node) => !lost.includes(node));
    const names = Object.fromEntries(
      Object.entries(judged).map(([kind, losses]) => [kind, losses.map(({ node }: { node: string }) => node)]),
    );
    expect(names).toEqual({ keptOut: [], awaited: [], hopeless: [], ...verdict });
  });

  test('a node that never joined its cluster is no majority', () => {
    const gone = [{ path: dataOf('dgraph-zero'), since: 'then' }];
    const judged = judgeLostNodes(replicas(3, 1), gone, (kind) => kind === 'dgraph-alpha');
    expect(judged.hopeless.map(({ node }) => node)).toEqual(['dgraph-zero']);
  });
});

describe('a node of Dgraph that lost its data', () => {
  test('of three is told, kept out, and still missed after the next start', async () => {
    ranWith(3, 2);
    lose('dgraph-zero-2');
    const notices: string[] = [];
    expect(await check(null, notices)).toEqual([]);
    expect(notices).toEqual([
      expect.stringMatching(/^dgraph-zero-2: Its data "data\/dgraph\/zero-2" .* svc up --start-empty$/),
    ]);
    const { services } = await status({ installation });
    expect(services.find(({ name }) => name === 'dgraph-zero-2')?.reason).toContain('is missing');
    await expect(check(null, [], false), 'before a move').rejects.toThrow('"data/dgraph/zero-2" (there since');
    recordData(installation, readDefinition(installation.definitionFile));
    expect(lossOf(installation, 'dgraph-zero-2')).toContain('is missing');
    expect(lossOf(installation, 'dgraph-zero')).toBeNull();
  });

  test.each([
    { left: 'an empty folder', leave: () => mkdirSync(folderOf('dgraph-alpha-2')) },
    {
      left: 'what an empty node writes',
      leave: () => {
        write('dgraph-alpha-2', 'w/wal.meta', Buffer.alloc(1024));
        write('dgraph-alpha-2', 'p/MANIFEST', 'empty');
      },
    },
    { left: 'its log alone', leave: () => write('dgraph-alpha-2', 'w/wal.meta', Buffer.alloc(1024, 1)) },
  ])('has lost it with $left', ({ leave }) => {
    ranWith(3, 2);
    lose('dgraph-alpha-2');
    leave();
    expect(lossOf(installation, 'dgraph-alpha-2')).toContain('is missing');
  });

  test('of two is refused, and gets a copy of the other one, under its own id', async () => {
    ranWith(1, 2);
    lose('dgraph-alpha-2');
    await expect(check()).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('"data/dgraph/alpha-2" (there since'),
      hint: expect.stringContaining('svc up --start-empty'),
    });
    const nodes = await check(agree);
    expect(nodes).toEqual(['dgraph-alpha-2']);
    // Until it has been copied it is missed.
    expect(lossOf(installation, 'dgraph-alpha-2')).toContain('is missing');
    await fill(nodes);
    expect(lossOf(installation, 'dgraph-alpha-2')).toBeNull();
    const copied = (name: string) => readFileSync(join(folderOf('dgraph-alpha-2'), name));
    expect(String(copied('p/MANIFEST'))).toBe('of dgraph-alpha');
    // Dgraph gives a data node without an id the one that belongs to its address.
    expect(copied('w/wal.meta').readBigUInt64BE(0)).toBe(0n);
    expect(readFileSync(join(folderOf('dgraph-alpha'), 'w/wal.meta')).readBigUInt64BE(0)).not.toBe(0n);
    expect(existsSync(join(folderOf('dgraph-alpha-2'), 'copy'))).toBe(false);
    expect(await check()).toEqual([]);
  });

  test('of three is not copied while nobody knows whether the others have everything', async () => {
    ranWith(3, 2);
    lose('dgraph-zero');
    const nodes = await check(agree);
    await expect(fill(nodes)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('svc status does not show dgraph-zero as lost'),
      hint: expect.stringContaining('svc up'),
    });
    expect(hasNodeData(installation, 'dgraph-zero')).toBe(false);
  });

  test('is in its cluster all the same: fewer nodes are refused', () => {
    ranWith(1, 2);
    lose('dgraph-alpha-2');
    const fewer = () => refuseFewerNodes(keptInFiles(installation), replicas(1, 1));
    expect(fewer).toThrow('data/dgraph/alpha-2 exists');
  });

  test('too many are refused, with consent too', async () => {
    ranWith(3, 2);
    for (const node of ['dgraph-zero', 'dgraph-zero-2']) lose(node);
    for (const startEmpty of [null, agree]) {
      await expect(check(startEmpty)).rejects.toMatchObject({
        code: 'not_found',
        hint: expect.stringContaining('Restore data/dgraph'),
      });
    }
  });

  test('with all others is an empty start, where that is wanted', async () => {
    ranWith(1, 1);
    rmSync(join(installation.dataDir, 'dgraph'), { recursive: true });
    await expect(check()).rejects.toThrow('Data of this installation is missing: "data/dgraph" (there since');
    const { copied, forgotten } = await settle(agree);
    expect(copied).toEqual([]);
    // Until the start is certain, the data is missed.
    expect(lossOf(installation, 'dgraph-alpha')).toContain('is missing');
    forgetData(installation, readDefinition(installation.definitionFile), forgotten);
    expect(readPlace(installation)?.data).toEqual([]);
    expect(lossOf(installation, 'dgraph-alpha')).toBeNull();
  });

  test('is missed after an upgrade from a version that recorded no nodes', async () => {
    ranWith(3, 1);
    const { id } = readDefinition(installation.definitionFile);
    writePlace(installation, id, [{ path: 'data/dgraph', since: '2026-01-01' }]);
    const ports = { 'dgraph-zero': 5080, 'dgraph-zero-2': 5081, 'dgraph-zero-3': 5082, 'dgraph-alpha': 8080 };
    writeFileSync(join(installation.stateDir, 'ports.json'), JSON.stringify(ports));
    // Without ports the node was never started.
    replicas(3, 2);
    lose('dgraph-zero-2');
    settlePlace(installation, () => undefined);
    const notices: string[] = [];
    expect(await check(null, notices)).toEqual([]);
    expect(notices).toEqual([
      expect.stringMatching(/^dgraph-zero-2: Its data "data\/dgraph\/zero-2" \(there since 2026-01-01\) is missing/),
    ]);
    expect(lossOf(installation, 'dgraph-zero-2')).toContain('is missing');
    expect(lossOf(installation, 'dgraph-alpha-2')).toBeNull();
  });
});

describe('a node of Dgraph whose data cannot be read', () => {
  test.each([
    { what: 'its folder', node: 'dgraph-zero-2', name: '', why: 'its symbolic links form a circle' },
    { what: 'the file of its vote', node: 'dgraph-zero-2', name: 'wal.meta', why: 'it is a folder' },
    { what: 'its tables', node: 'dgraph-alpha-3', name: 'p/MANIFEST', why: 'its symbolic links form a circle' },
  ])('$what: it is kept out, and no copy takes its place', async ({ node, name, why }) => {
    ranWith(3, 3);
    const path = join(folderOf(node), name);
    rmSync(path, { recursive: true });
    if (why === 'it is a folder') mkdirSync(path);
    else symlinkSync(path, path);
    const told = `Its data "${dataOf(node)}" cannot be read (${why}), so it is not started. Repair the disk or the permission, then run: svc up`;
    for (const startEmpty of [null, agree]) {
      const notices: string[] = [];
      expect(await check(startEmpty, notices)).toEqual([]);
      expect(notices).toEqual([`${node}: ${told}`]);
    }
    const { services } = await status({ installation });
    expect(services.find((service) => service.name === node)?.reason).toBe(told);
    recordData(installation, readDefinition(installation.definitionFile));
    expect(lossOf(installation, node)).toBe(told);
    await expect(check(null, [], false), 'before a move').rejects.toMatchObject({ code: 'unavailable' });
  });

  test.each([
    { lost: [], why: 'its data is needed' },
    { lost: ['dgraph-alpha', 'dgraph-zero'], why: 'everything else is gone' },
  ])('of two: everything is refused, with consent too, because $why', async ({ lost }) => {
    ranWith(1, 2);
    for (const node of ['dgraph-alpha-2', ...lost]) lose(node);
    symlinkSync('alpha-2', folderOf('dgraph-alpha-2'));
    for (const startEmpty of [null, agree]) {
      await expect(check(startEmpty)).rejects.toMatchObject({
        code: 'unavailable',
        message: 'Data of this installation cannot be read: "data/dgraph/alpha-2" (its symbolic links form a circle).',
        hint: expect.stringContaining('Repair the disk or the permission'),
      });
    }
    expect(lstatSync(folderOf('dgraph-alpha-2')).isSymbolicLink()).toBe(true);
  });

  test('is not counted as gone with its folder of all nodes', async () => {
    ranWith(1, 1);
    rmSync(join(installation.dataDir, 'dgraph'), { recursive: true });
    symlinkSync('dgraph', join(installation.dataDir, 'dgraph'));
    await expect(check(agree)).rejects.toMatchObject({ code: 'unavailable' });
    recordData(installation, readDefinition(installation.definitionFile));
    expect(readPlace(installation)?.data.map(({ path }) => path)).toContain('data/dgraph/alpha');
  });
});

describe('a copy, in either engine', () => {
  /** What is done, one after the other, for a cluster of three nodes of coordination and three data nodes. */
  async function fillOf(
    lost: readonly string[],
    states: Readonly<Record<string, ServiceState>>,
    freeBytes: number | null = null,
  ) {
    const done: string[] = [];
    const places: NodePlaces = {
      hasData: (node) => !lost.includes(node),
      stateOf: (node) => states[node] ?? 'healthy',
      change: async (nodes) => void done.push(`change ${nodes.join(' ')}`),
      stop: async () => void done.push('stop'),
      roomsFor: async (copies) => [
        { place: 'The disk', repair: 'df -h', neededBytes: copies.length * 5 * 1024 * 1024, freeBytes },
      ],
      copy: async ({ from, to }) => void done.push(`copy ${from} to ${to}`),
    };
    const filled = fillNodes({ definition: replicas(3, 3), nodes: lost, places, onNotice: () => undefined });
    await filled.catch((error: Error) => void done.push(error.message));
    return done;
  }

  test('is made once the others have acknowledged a change, and nothing runs', async () => {
    expect(await fillOf(['dgraph-alpha'], { 'dgraph-alpha': 'lost' })).toEqual([
      'change dgraph-alpha-2 dgraph-alpha-3',
      'stop',
      'copy dgraph-alpha-2 to dgraph-alpha',
    ]);
  });

  test.each([
    { state: { 'dgraph-alpha': 'stopped' }, why: 'svc status does not show dgraph-alpha as lost' },
    { state: { 'dgraph-alpha': 'lost', 'dgraph-alpha-3': 'starting' }, why: 'dgraph-alpha-3 is not healthy' },
  ] as const)('is not made, and nothing is stopped, while $why', async ({ state, why }) => {
    expect(await fillOf(['dgraph-alpha'], state)).toEqual([`The data of dgraph-alpha cannot be copied yet: ${why}.`]);
  });

  test('is not made, and nothing is stopped, where the disk has no room for it', async () => {
    const lost = ['dgraph-zero', 'dgraph-alpha'];
    const states = { 'dgraph-zero': 'lost', 'dgraph-alpha': 'lost' } as const;
    expect(await fillOf(lost, states, 10 * 1024 * 1024)).toEqual([
      'The disk has 10.0 MB left, and the data of dgraph-zero and dgraph-alpha needs 11.0 MB.',
    ]);
    expect(await fillOf(lost, states, 11 * 1024 * 1024)).toContain('stop');
  });
});

describe('a part that may not start without its data', () => {
  const yaml = 'id: abcdef0123456789\ntopology: distributed\ngraph: dgraph\nreplicas: { dgraph-alpha: 2 }\n';
  const { parts } = planFor(installationIn('/srv/svc'), checkDefinition(yaml, 'svc.yaml'), usualPorts);
  const part = parts.find(({ name }) => name === 'dgraph-alpha-2') ?? expect.fail('there is no second data node');

  /** What died starts again at once; how often it was started is counted. */
  function supervised(loss: () => string | null) {
    const events: string[] = [];
    const ends: (() => void)[] = [];
    const runner: PartRunner = {
      async start() {
        const { promise, resolve } = Promise.withResolvers<{ reason: string; portTaken: boolean }>();
        ends.push(() => resolve({ reason: 'was killed', portTaken: false }));
        return { ready: readyAt(address), ended: promise, answers: async () => true, stop: async () => undefined };
      },
      close: async () => undefined,
    };
    const watcher = {
      moved: (_: Part, event: string) => void events.push(event),
      born: () => undefined,
      broke: () => void events.push('ended'),
    };
    const restarts = { ...usualPatience.restarts, delayFirstMs: 1, delayMaxMs: 1 };
    const patience = { ...usualPatience, restarts };
    return { events, ends, one: new SupervisedPart(part, { runner, watcher, patience, lossOf: loss }) };
  }

  /** Where something answers at once. */
  let address: string;
  beforeEach(async () => {
    const server = createServer((_, response) => void response.end('ok'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const listening = server.address();
    address = `http://127.0.0.1:${typeof listening === 'object' ? listening?.port : 0}`;
    return () => void server.close();
  });

  test('is not started at all', async () => {
    const { one, events, ends } = supervised(() => 'gone');
    await one.start(new AbortController().signal);
    expect([events, ends.length]).toEqual([['lost'], 0]);
    await one.stop('hurry');
  });

  test('is not started again, where the data went while it ran', async () => {
    let loss: string | null = null;
    const { one, events, ends } = supervised(() => loss);
    await one.start(new AbortController().signal);
    ends[0]?.();
    await expect.poll(() => ends.length).toBe(2);
    await expect.poll(() => events.at(-1)).toBe('ready');
    loss = 'gone';
    ends[1]?.();
    await expect.poll(() => events.at(-1)).toBe('lost');
    expect(ends).toHaveLength(2);
    await one.stop('hurry');
  });
});
