import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { planFor } from '../engines/plan-of.ts';
import type { PartRunner } from '../engines/process/part-runner.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { SupervisedPart } from '../engines/process/supervised-part.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { status } from '../operations/status.ts';
import { dataOf } from '../parts/dgraph.ts';
import type { Part } from '../parts/part.ts';
import { describeNodeLoss, findLosses, forgetData, recordData } from '../place/kept-data.ts';
import { judgeLosses, type Loss, type StartEmpty, settleLosses } from '../place/losses.ts';
import type { Definition } from '../settings/definition.ts';
import { nodesOf, usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { readPlace } from '../state/place-record.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { nodeFolder, writeInNode, writeNode } from '../test/made-up-node.ts';
import { keptInFiles, refuseFewerNodes } from './graph-data.ts';

const dir = folderOfEachTest();
let installation: Installation;
let definition: Definition;
beforeEach(() => {
  installation = installationIn(dir());
  for (const folder of [installation.stateDir, installation.dataDir]) mkdirSync(folder);
});

const folderOf = (node: string) => nodeFolder(installation, node);
const lose = (node: string) => rmSync(folderOf(node), { recursive: true });

function nodes(zeros: number, alphas: number): Definition {
  const replicas = `{ dgraph-zero: ${zeros}, dgraph-alpha: ${alphas} }`;
  return definitionOf(`topology: distributed\ngraph: dgraph\nreplicas: ${replicas}\n`);
}

/** Writes the data and the record of a cluster that ran once. */
function ranWith(zeros: number, alphas: number): void {
  definition = nodes(zeros, alphas);
  const names = [...nodesOf('dgraph-zero', definition), ...nodesOf('dgraph-alpha', definition)];
  for (const [index, node] of names.entries()) writeNode(installation, node, index + 1);
  recordData(installation, definition);
}

const describeLoss = (node: string) => describeNodeLoss(installation, node);
const agree = async () => undefined;

async function settle(startEmpty: StartEmpty | null = null) {
  const notices: string[] = [];
  const onNotice = (message: string) => void notices.push(message);
  const given = await settleLosses(findLosses(installation, definition), { startEmpty, runningPid: null, onNotice });
  return { given, notices };
}

/** Expects that a start keeps the node out, with and without the operator's consent to an empty start. */
async function expectKeptOut(node: string, loss: unknown): Promise<void> {
  for (const startEmpty of [null, agree]) {
    const { given, notices } = await settle(startEmpty);
    expect(given).toEqual([]);
    expect(notices[0]).toBe(`${node}: ${describeLoss(node)}`);
  }
  // A start without the node does not forget the loss.
  recordData(installation, definition);
  expect(describeLoss(node)).toEqual(loss);
}

async function expectRefused(refusal: object): Promise<void> {
  for (const startEmpty of [null, agree]) await expect(settle(startEmpty)).rejects.toMatchObject(refusal);
}

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
    expect(judged(nodes(zeros, alphas), lost, (node) => !lost.includes(node))).toEqual(verdict);
  });

  test('a node that never joined its cluster is no majority', () => {
    const hasData = (node: string) => node === 'dgraph-alpha';
    expect(judged(nodes(3, 1), ['dgraph-zero'], hasData)).toEqual({ needed: ['dgraph-zero'] });
  });

  function judged(cluster: Definition, lost: readonly string[], hasData: (node: string) => boolean) {
    const losses = lost.map((node) => ({ place: dataOf(node), words: node, node, isUnreadable: false }));
    const verdict = Object.entries(judgeLosses(losses, cluster, hasData));
    return Object.fromEntries(
      verdict.filter(([, some]) => some.length > 0).map(([kind, some]) => [kind, some.map(({ words }: Loss) => words)]),
    );
  }
});

describe('a node of Dgraph that lost its data', () => {
  test('of three is reported, kept out, and still missing after the next start', async () => {
    await createInstallation({ dir: dir(), topology: 'distributed', graph: 'dgraph' });
    ranWith(3, 2);
    lose('dgraph-zero');
    const loss = expect.stringMatching(
      /^Its data is missing, .*: "data\/dgraph\/zero" \(there since .*svc backup FILE, then svc restore FILE$/,
    );
    await expectKeptOut('dgraph-zero', loss);
    expect(describeLoss('dgraph-zero-2')).toBeNull();
    const { services } = await status({ installation });
    expect(services.find(({ name }) => name === 'dgraph-zero')?.reason).toEqual(loss);
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
    const kept = keptInFiles(installation);
    expect(() => refuseFewerNodes(kept, nodes(1, 1))).toThrow('data/dgraph/alpha-2 exists');
    expect(kept('backend')).toEqual({ place: 'data/graph.sqlite', isThere: false });
    writeFileSync(join(installation.dataDir, 'graph.sqlite'), '');
    expect(['backend', 'dgraph-alpha', 'dgraph-alpha-3'].map((part) => kept(part).isThere)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('without a majority is refused, with consent too', async () => {
    ranWith(3, 2);
    for (const node of ['dgraph-zero', 'dgraph-zero-2']) lose(node);
    await expectRefused({
      code: 'not_found',
      message: expect.stringContaining('no majority: "data/dgraph/zero" (there since'),
      hint: expect.stringMatching(/svc restore FILE\. .* svc up --start-empty$/),
    });
  });

  test('with all others is an empty start, where that is wanted', async () => {
    ranWith(1, 1);
    rmSync(join(installation.dataDir, 'dgraph'), { recursive: true });
    await expect(settle()).rejects.toThrow(
      /^Data of this installation is missing: "data\/dgraph" \(there since [^"]*$/,
    );
    const { given } = await settle(agree);
    // The data counts as missing until the start is certain.
    expect(describeLoss('dgraph-alpha')).toContain('is missing');
    forgetData(installation, definition, given);
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
    const loss = `Its data cannot be read, so the node is not started: "${dataOf(node)}" (${why}). Repair the disk or the permission, then run: svc up`;
    await expectKeptOut(node, loss);
  });

  test.each([
    { lost: [], why: 'its data is needed' },
    { lost: ['dgraph-alpha', 'dgraph-zero'], why: 'everything else is gone' },
  ])('of two: everything is refused, with consent too, because $why', async ({ lost }) => {
    ranWith(1, 2);
    for (const node of ['dgraph-alpha-2', ...lost]) lose(node);
    symlinkSync('alpha-2', folderOf('dgraph-alpha-2'));
    await expectRefused({
      code: 'unavailable',
      message: 'Data of this installation cannot be read: "data/dgraph/alpha-2" (its symbolic links form a circle).',
      hint: expect.stringContaining('Repair the disk or the permission'),
    });
    expect(lstatSync(folderOf('dgraph-alpha-2')).isSymbolicLink()).toBe(true);
  });

  test('is not counted as gone with its folder of all nodes', async () => {
    ranWith(1, 1);
    rmSync(join(installation.dataDir, 'dgraph'), { recursive: true });
    symlinkSync('dgraph', join(installation.dataDir, 'dgraph'));
    await expectRefused({ code: 'unavailable' });
    recordData(installation, definition);
    expect(readPlace(installation)?.data.map(({ path }) => path)).toContain('data/dgraph/alpha');
  });
});

test('a part that may not start without its data is not restarted once the data went, and then not started', async () => {
  const { parts } = planFor(installation, nodes(1, 2), usualPorts);
  const part = parts.find(({ name }) => name === 'dgraph-alpha-2') ?? expect.fail('there is no second data node');
  const events: string[] = [];
  const ends: (() => void)[] = [];
  /** A runner that starts every part immediately. */
  const runner: PartRunner = {
    async start() {
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.push(() => resolve('was killed'));
      return {
        ended: promise,
        readiness: async () => ({ ready: true }),
        answers: async () => true,
        stop: async () => undefined,
      };
    },
    close: async () => undefined,
  };
  const recorder = {
    moved: (_: Part, event: string) => void events.push(event),
    born: () => undefined,
    broke: () => void events.push('ended'),
  };
  const patience = { ...usualPatience, restarts: { ...usualPatience.restarts, delayFirstMs: 1, delayMaxMs: 1 } };
  let loss: string | null = null;
  const supervised = new SupervisedPart(part, { runner, recorder, patience, lossOf: () => loss });
  const { signal } = new AbortController();
  await supervised.start(signal);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  await expect.poll(() => events.at(-1)).toBe('ready');
  loss = 'gone';
  ends[1]?.();
  await expect.poll(() => events.at(-1)).toBe('lost');
  await supervised.stop('hurry');
  await supervised.start(signal);
  expect(events.slice(-2)).toEqual(['stop', 'lost']);
  expect(ends).toHaveLength(2);
});
