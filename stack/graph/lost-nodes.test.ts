import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { planFor } from '../engines/plan-of.ts';
import type { PartRunner } from '../engines/process/part-runner.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { SupervisedPart } from '../engines/process/supervised-part.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { status } from '../operations/status.ts';
import { dataOf } from '../parts/dgraph.ts';
import { type Part, readyAt } from '../parts/part.ts';
import { describeNodeLoss, findLosses, forgetData, recordData } from '../place/kept-data.ts';
import { judgeLosses, type Loss, type StartEmpty, settleLosses } from '../place/losses.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import { usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { readPlace } from '../state/place-record.ts';
import { answering } from '../test/answering.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { nodeFolder, writeInNode, writeNode } from '../test/made-up-node.ts';
import { keptInFiles, refuseFewerNodes } from './graph-data.ts';

const dir = folderOfEachTest();
let installation: Installation;
beforeEach(async () => {
  ({ installation } = await createInstallation({ dir: join(dir(), 'svc'), topology: 'distributed', graph: 'dgraph' }));
});

const folderOf = (node: string) => nodeFolder(installation, node);
const lose = (node: string) => rmSync(folderOf(node), { recursive: true });

function replicas(zeros: number, alphas: number) {
  const text = readFileSync(installation.definitionFile, 'utf8')
    .replace(/dgraph-zero: \d/, `dgraph-zero: ${zeros}`)
    .replace(/dgraph-alpha: \d/, `dgraph-alpha: ${alphas}`);
  writeFileSync(installation.definitionFile, text);
  return readDefinition(installation.definitionFile);
}

/** A cluster that ran once. */
function ranWith(zeros: number, alphas: number): void {
  const definition = replicas(zeros, alphas);
  const names = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => (index === 0 ? kind : `${kind}-${index + 1}`));
  for (const [index, node] of [...names('dgraph-zero', zeros), ...names('dgraph-alpha', alphas)].entries())
    writeNode(installation, node, index + 1);
  recordData(installation, definition);
}

const definitionNow = () => readDefinition(installation.definitionFile);
const find = () => findLosses(installation, definitionNow());
const settle = (startEmpty: StartEmpty | null = null, notices: string[] = []) =>
  settleLosses(find(), { startEmpty, runningPid: null, onNotice: (message) => void notices.push(message) });
const describeLoss = (node: string) => describeNodeLoss(installation, node);
const agree = async () => undefined;

describe('which nodes of Dgraph may be missing', () => {
  test.each([
    [3, 2, { keptOut: ['dgraph-zero'] }],
    [3, 2, { needed: ['dgraph-alpha-2'] }],
    [3, 3, { keptOut: ['dgraph-alpha'] }],
    [1, 1, { needed: ['dgraph-alpha'] }],
    [3, 2, { needed: ['dgraph-zero', 'dgraph-zero-3'] }],
    [3, 2, { keptOut: ['dgraph-zero-2'], needed: ['dgraph-alpha'] }],
    [1, 2, { whole: ['dgraph-zero', 'dgraph-alpha', 'dgraph-alpha-2'] }],
  ])('%i coordination and %i data nodes without all of %j', (zeros, alphas, verdict) => {
    const lost = Object.values(verdict).flat();
    expect(judged(replicas(zeros, alphas), lost, (node) => !lost.includes(node))).toEqual(verdict);
  });

  test('a node that never joined its cluster is no majority', () => {
    const hasData = (node: string) => node === 'dgraph-alpha';
    expect(judged(replicas(3, 1), ['dgraph-zero'], hasData)).toEqual({ needed: ['dgraph-zero'] });
  });

  function judged(definition: Definition, lost: readonly string[], hasData: (node: string) => boolean) {
    const losses = lost.map((node) => ({ place: dataOf(node), words: node, node, isUnreadable: false }));
    const verdict = Object.entries(judgeLosses(losses, definition, hasData));
    return Object.fromEntries(
      verdict.filter(([, some]) => some.length > 0).map(([kind, some]) => [kind, some.map(({ words }: Loss) => words)]),
    );
  }
});

describe('a node of Dgraph that lost its data', () => {
  test('of three is reported, kept out, and still missing after the next start', async () => {
    ranWith(3, 2);
    lose('dgraph-zero-2');
    const told = expect.stringMatching(
      /^dgraph-zero-2: Its data is missing, .*: "data\/dgraph\/zero-2" \(there since .*svc backup FILE, then svc restore FILE$/,
    );
    for (const startEmpty of [null, agree]) {
      const notices: string[] = [];
      expect(await settle(startEmpty, notices)).toEqual([]);
      expect(notices[0]).toEqual(told);
    }
    const { services } = await status({ installation });
    expect(services.find(({ name }) => name === 'dgraph-zero-2')?.reason).toContain('is missing');
    recordData(installation, definitionNow());
    expect(describeLoss('dgraph-zero-2')).toContain('is missing');
    expect(describeLoss('dgraph-zero')).toBeNull();
  });

  test.each([
    ['an empty folder', {}],
    ['what an empty node writes', { 'w/wal.meta': Buffer.alloc(1024), 'p/MANIFEST': 'empty' }],
    ['its log alone', { 'w/wal.meta': Buffer.alloc(1024, 1) }],
  ])('has lost it with %s', (_, left) => {
    ranWith(3, 2);
    lose('dgraph-alpha-2');
    mkdirSync(folderOf('dgraph-alpha-2'));
    for (const [name, content] of Object.entries(left)) writeInNode(installation, 'dgraph-alpha-2', name, content);
    expect(describeLoss('dgraph-alpha-2')).toContain('is missing');
  });

  test('still belongs to its cluster: fewer nodes are refused', () => {
    ranWith(1, 2);
    lose('dgraph-alpha-2');
    const fewer = () => refuseFewerNodes(keptInFiles(installation), replicas(1, 1));
    expect(fewer).toThrow('data/dgraph/alpha-2 exists');
  });

  test.each([
    { nodes: [1, 2], lost: ['dgraph-alpha-2'] },
    { nodes: [3, 2], lost: ['dgraph-zero', 'dgraph-zero-2'] },
  ])('without a majority ($lost) is refused, with consent too', async ({ nodes: [zeros = 1, alphas = 1], lost }) => {
    ranWith(zeros, alphas);
    for (const node of lost) lose(node);
    for (const startEmpty of [null, agree]) {
      await expect(settle(startEmpty)).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`no majority: "${dataOf(lost[0] ?? '')}" (there since`),
        hint: expect.stringMatching(/svc restore FILE\. .* svc up --start-empty$/),
      });
    }
  });

  test('with all others is an empty start, where that is wanted', async () => {
    ranWith(1, 1);
    rmSync(join(installation.dataDir, 'dgraph'), { recursive: true });
    await expect(settle()).rejects.toThrow(
      /^Data of this installation is missing: "data\/dgraph" \(there since [^"]*$/,
    );
    const given = await settle(agree);
    // Until the start is certain, the data is missed.
    expect(describeLoss('dgraph-alpha')).toContain('is missing');
    forgetData(installation, definitionNow(), given);
    expect(readPlace(installation)?.data).toEqual([]);
    expect(describeLoss('dgraph-alpha')).toBeNull();
  });
});

describe('a node of Dgraph whose data cannot be read', () => {
  test.each([
    { what: 'its folder', node: 'dgraph-zero-2', name: '', why: 'its symbolic links form a circle' },
    { what: 'the file of its vote', node: 'dgraph-zero-2', name: 'wal.meta', why: 'it is a folder' },
    { what: 'its tables', node: 'dgraph-alpha-3', name: 'p/MANIFEST', why: 'its symbolic links form a circle' },
  ])('$what: it is kept out, and stays as it is', async ({ node, name, why }) => {
    ranWith(3, 3);
    const path = join(folderOf(node), name);
    rmSync(path, { recursive: true });
    if (why === 'it is a folder') mkdirSync(path);
    else symlinkSync(path, path);
    const told = `Its data cannot be read, so the node is not started: "${dataOf(node)}" (${why}). Repair the disk or the permission, then run: svc up`;
    for (const startEmpty of [null, agree]) {
      const notices: string[] = [];
      expect(await settle(startEmpty, notices)).toEqual([]);
      expect(notices[0]).toBe(`${node}: ${told}`);
    }
    const { services } = await status({ installation });
    expect(services.find((service) => service.name === node)?.reason).toBe(told);
    recordData(installation, definitionNow());
    expect(describeLoss(node)).toBe(told);
  });

  test.each([
    { lost: [], why: 'its data is needed' },
    { lost: ['dgraph-alpha', 'dgraph-zero'], why: 'everything else is gone' },
  ])('of two: everything is refused, with consent too, because $why', async ({ lost }) => {
    ranWith(1, 2);
    for (const node of ['dgraph-alpha-2', ...lost]) lose(node);
    symlinkSync('alpha-2', folderOf('dgraph-alpha-2'));
    for (const startEmpty of [null, agree]) {
      await expect(settle(startEmpty)).rejects.toMatchObject({
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
    await expect(settle(agree)).rejects.toMatchObject({ code: 'unavailable' });
    recordData(installation, definitionNow());
    expect(readPlace(installation)?.data.map(({ path }) => path)).toContain('data/dgraph/alpha');
  });
});

describe('a part that may not start without its data', () => {
  const definition = definitionOf('topology: distributed\ngraph: dgraph\nreplicas: { dgraph-alpha: 2 }\n');
  const { parts } = planFor(installationIn('/srv/svc'), definition, usualPorts);
  const part = parts.find(({ name }) => name === 'dgraph-alpha-2') ?? expect.fail('there is no second data node');

  /** What died starts again at once; how often it was started is counted. */
  async function supervised(loss: () => string | null) {
    const address = await answering((_, response) => void response.end('ok'));
    const events: string[] = [];
    const ends: (() => void)[] = [];
    const runner: PartRunner = {
      async start() {
        const { promise, resolve } = Promise.withResolvers<string>();
        ends.push(() => resolve('was killed'));
        return { ready: readyAt(address), ended: promise, answers: async () => true, stop: async () => undefined };
      },
      close: async () => undefined,
    };
    const recorder = {
      moved: (_: Part, event: string) => void events.push(event),
      born: () => undefined,
      broke: () => void events.push('ended'),
    };
    const restarts = { ...usualPatience.restarts, delayFirstMs: 1, delayMaxMs: 1 };
    const patience = { ...usualPatience, restarts };
    return { events, ends, one: new SupervisedPart(part, { runner, recorder, patience, lossOf: loss }) };
  }

  test('is not started at all', async () => {
    const { one, events, ends } = await supervised(() => 'gone');
    await one.start(new AbortController().signal);
    expect([events, ends.length]).toEqual([['lost'], 0]);
    await one.stop('hurry');
  });

  test('is not started again, where the data went while it ran', async () => {
    let loss: string | null = null;
    const { one, events, ends } = await supervised(() => loss);
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
