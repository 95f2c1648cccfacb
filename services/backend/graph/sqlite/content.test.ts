import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { settingNode } from '../contract/sample-nodes.contract.ts';
import type { Graph } from '../graph.ts';
import { changesSince, copyGraph, readGraphContent } from './content.ts';
import { openSqliteGraph } from './sqlite-graph.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

it('counts the nodes of each type and the edges of each name, and nothing that is not there', async () => {
  const { file, graph } = await newGraph();
  await addMember(graph, 'a');
  await addMember(graph, 'b');
  const [whole, ...kinds] = await readGraphContent(file);
  expect(whole?.kind).toBe('graph');
  expect(kinds.map(({ kind, count }) => `${kind} ${count}`)).toEqual([
    'edge.member.person 2',
    'member 2',
    'user 2',
    'workspace 2',
  ]);
});

it('a copy has the digests of what was copied while it is written to, and is private', async () => {
  const { file, graph } = await newGraph();
  await addMember(graph, 'a');
  const before = await readGraphContent(file);
  const copy = `${file}.copy`;
  await copyGraph(file, copy);
  await addMember(graph, 'b');
  expect(await readGraphContent(copy)).toEqual(before);
  expect((await stat(copy)).mode & 0o777).toBe(0o600);
  const after = await readGraphContent(file);
  const digests = new Map(before.map(({ kind, digest }) => [kind, digest]));
  for (const { kind, digest } of after) expect(digest, kind).not.toBe(digests.get(kind));
});

it('one changed value changes the digest of its kind and of the whole, and of nothing else', async () => {
  const { file, graph } = await newGraph();
  const { workspace } = await addMember(graph, 'a');
  const before = await readGraphContent(file);
  await graph.write((transaction) => transaction.update('workspace', workspace, { name: 'b' }, { anchor: null }));
  const after = await readGraphContent(file);
  const changed = after.filter(({ kind, digest }) => before.find((one) => one.kind === kind)?.digest !== digest);
  expect(changed.map(({ kind }) => kind)).toEqual(['graph', 'workspace']);
});

it('tells by kind what was added, changed and removed since a copy', async () => {
  const { file, graph } = await newGraph();
  const { workspace } = await addMember(graph, 'a');
  await graph.write((transaction) => transaction.create('setting', { ...settingNode('gone'), id: newId('setting') }));
  const copy = `${file}.copy`;
  await copyGraph(file, copy);
  expect(await changesSince(file, copy)).toEqual([]);
  await addMember(graph, 'b');
  await graph.write(async (transaction) => {
    await transaction.update('workspace', workspace, { name: 'c' }, { anchor: null });
    const setting = await transaction.findBy('setting', { name: 'gone' }, null);
    if (setting !== null) await transaction.remove('setting', setting.id, null);
  });
  expect(await changesSince(file, copy)).toEqual([
    { kind: 'edge', added: 1, changed: 0, removed: 0 },
    { kind: 'member', added: 1, changed: 0, removed: 0 },
    { kind: 'setting', added: 0, changed: 0, removed: 1 },
    { kind: 'user', added: 1, changed: 0, removed: 0 },
    { kind: 'workspace', added: 1, changed: 1, removed: 0 },
  ]);
});

it('what is no graph is named', async () => {
  const { file } = await newGraph();
  await expect(readGraphContent(join(file, 'nowhere'))).rejects.toMatchObject({ code: 'unavailable' });
});

async function addMember(graph: Graph, name: string) {
  const [workspace, user, member] = [newId('workspace'), newId('user'), newId('member')];
  await graph.write(async (transaction) => {
    const createdAt = Date.now();
    await transaction.create('workspace', {
      ...{ id: workspace, name, suspended: false, revision: 0, statusRevision: 0, createdAt },
    });
    await transaction.create('user', { id: user, email: `${name}@example.com`, name, createdAt });
    await transaction.create('member', { id: member, workspace, user, role: 'owner', suspended: false, createdAt });
    await transaction.link({ from: 'member', edge: 'person' }, member, [user]);
  });
  return { workspace };
}

async function newGraph() {
  const folder = await mkdtemp(join(tmpdir(), 'graph-content-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'graph.sqlite');
  const graph = await openSqliteGraph({ file });
  opened.push(() => graph.close());
  return { file, graph };
}
