import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseDigest } from '../../contracts/digest.ts';
import { newId } from '../../contracts/ids.ts';
import { openAt } from '../graph/contract/graph-address.contract.ts';
import { describeOnCluster } from '../graph/dgraph/test/describe-on-cluster.ts';
import { createSkill } from '../skills/change-skills.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { blobOf, inChunks } from './blobs.contract.ts';
import type { Blobs } from './blobs.ts';
import { offerUpload, removeFile, type SkillOf, upload } from './change-files.ts';
import { graceMs, removeUnused, reserveBlob } from './keep-blobs.ts';
import { readTicket } from './tickets.ts';

describe('in SQLite', () => unusedBlobs(openTestBackend));

describeOnCluster((cluster) =>
  unusedBlobs(async () => {
    const [backend, graph] = [await openTestBackend(), await openAt(await cluster().emptyGraph())];
    return { ...backend, graph, close: () => Promise.all([graph.close(), backend.close()]).then(() => undefined) };
  }),
);

function unusedBlobs(open: () => Promise<TestBackend>): void {
  let backend: TestBackend;
  let owner: Awaited<ReturnType<typeof addWorkspace>>['owner'];
  let place: SkillOf;
  beforeEach(async () => {
    backend = await open();
    const workspace = await addWorkspace(backend, 'home');
    owner = workspace.owner;
    place = { workspace: workspace.id, skill: (await createSkill(backend, owner, workspace.id, { name: 'files' })).id };
  });
  afterEach(() => backend.close());

  const bytes = Buffer.from('bytes');
  const { digest, sizeBytes } = blobOf(bytes);
  const { signal } = new AbortController();
  /** A time when everything done so far is older than the grace period. */
  const later = (times = 1) => Date.now() + times * (graceMs + 1);
  const sweep = (now: number, blobs: Blobs = backend.blobs) =>
    removeUnused({ graph: backend.graph, blobs }, { now, signal });
  /** The same blobs with another way to remove them. */
  const removingBy = (remove: Blobs['remove']): Blobs => {
    const { blobs } = backend;
    const same = {
      put: blobs.put,
      find: blobs.find,
      read: blobs.read,
      list: blobs.list,
      removeUnfinished: blobs.removeUnfinished,
    };
    const bound = Object.entries(same).map(([name, method]) => [name, method.bind(blobs)]);
    return { ...(Object.fromEntries(bound) as typeof same), remove };
  };
  const isThere = async () => (await backend.blobs.find(digest)) !== null;

  async function offered(path = 'a') {
    const { url } = await offerUpload(backend, owner, place, { path, digest, sizeBytes });
    return readTicket(backend, new URL(url).searchParams.get('ticket') ?? '', 'upload');
  }

  async function add(path = 'a'): Promise<void> {
    await upload(backend, await offered(path), inChunks(bytes));
  }

  it('bytes stay as long as one file of any skill uses them, and are removed a while after that', async () => {
    await add('a');
    await add('b');
    await removeFile(backend, owner, place, { path: 'a', replaced: null });
    await sweep(later());
    expect(await isThere()).toBe(true);
    await removeFile(backend, owner, place, { path: 'b', replaced: null });
    await sweep(Date.now());
    expect(await isThere()).toBe(true);
    await sweep(later());
    expect(await isThere()).toBe(false);
    expect(await backend.graph.count({ type: 'blob', anchor: null, limit: 1 })).toBe(0);
    await add('a');
    expect(await isThere()).toBe(true);
  });

  it('bytes of an upload that never became a file are removed too', async () => {
    await reserveBlob(backend.graph, digest);
    await backend.blobs.put({ digest, sizeBytes }, inChunks(bytes));
    await sweep(Date.now());
    expect(await isThere()).toBe(true);
    await sweep(later());
    expect(await isThere()).toBe(false);
  });

  it('bytes unknown to the graph stay as long as new ones', async () => {
    await backend.blobs.put({ digest, sizeBytes }, inChunks(bytes));
    await sweep(Date.now());
    await sweep(Date.now());
    expect(await isThere()).toBe(true);
    await sweep(later());
    expect(await isThere()).toBe(false);
  });

  it('an upload that begins during a removal of the same bytes keeps them', async () => {
    await add();
    await removeFile(backend, owner, place, { path: 'a', replaced: null });
    const ticket = await offered();
    async function* slowly() {
      // The first byte has arrived, and now a check looks for unused bytes.
      yield bytes.subarray(0, 1);
      await sweep(Date.now() + 1000);
      yield bytes.subarray(1);
    }
    await upload(backend, ticket, slowly());
    await sweep(later());
    expect(await isThere()).toBe(true);
  });

  it('an upload that begins between the check for unused bytes and their removal keeps them', async () => {
    const both = await manyBlobs('old', 2);
    await backend.graph.write(async (transaction) => {
      const { nodes } = await transaction.select({ type: 'blob', anchor: null, limit: 2 });
      for (const { id } of nodes) await transaction.update('blob', id, { touchedAt: 0 }, { anchor: null });
    });
    const other = removingBy(async (leaving) => {
      for (const one of both) if (one !== leaving) await reserveBlob(backend.graph, one);
      await backend.blobs.remove(leaving);
    });
    await sweep(Date.now(), other);
    const left: string[] = [];
    for await (const one of backend.blobs.list()) left.push(one);
    expect(left).toHaveLength(1);
  });

  it('an upload of bytes that are being removed is refused, and succeeds once they are gone', async () => {
    await add();
    await removeFile(backend, owner, place, { path: 'a', replaced: null });
    const refused: unknown[] = [];
    const whileRemoving = removingBy(async (leaving) => {
      refused.push(await add().catch((error: unknown) => error));
      await backend.blobs.remove(leaving);
    });
    await sweep(later(), whileRemoving);
    expect(refused).toMatchObject([{ code: 'conflict', hint: expect.stringContaining('again') }]);
    expect(await isThere()).toBe(false);
    await add();
    expect(await isThere()).toBe(true);
  });

  it('a removal that a crash interrupted is finished later, but not while it may still be running', async () => {
    await add();
    await removeFile(backend, owner, place, { path: 'a', replaced: null });
    const crashing = removingBy(() => Promise.reject(new Error('crashed')));
    await expect(sweep(later(), crashing)).rejects.toThrow('crashed');
    await sweep(later());
    expect(await isThere()).toBe(true);
    await expect(add()).rejects.toMatchObject({ code: 'conflict' });
    await sweep(later(2));
    expect(await isThere()).toBe(false);
    await add();
    expect(await isThere()).toBe(true);
  });

  it('many are removed, and no others', async () => {
    const kept = [...(await manyBlobs('kept'))];
    for (const [number, each] of kept.entries()) {
      await backend.graph.write(async (transaction) => {
        const id = newId('file');
        const blob = await transaction.findBy('blob', { digest: each }, null);
        if (blob === null) throw new Error('not reserved');
        const file = { skill: place.skill, path: `${number}`, digest: each, sizeBytes: 1, createdAt: 0 };
        await transaction.create('file', { id, workspace: place.workspace, ...file });
        await transaction.link({ from: 'file', edge: 'content' }, id, [blob.id]);
      });
    }
    await manyBlobs('gone');
    await sweep(later());
    const left: string[] = [];
    for await (const one of backend.blobs.list()) left.push(one);
    expect(left).toEqual(kept.toSorted());
  });

  async function manyBlobs(name: string, count = 60) {
    const made = Array.from({ length: count }, (_, number) => Buffer.from(`${name} ${number}`));
    for (const each of made) {
      await reserveBlob(backend.graph, blobOf(each).digest);
      await backend.blobs.put(blobOf(each), inChunks(each));
    }
    return made.map((each) => parseDigest(createHash('sha256').update(each).digest('hex')));
  }
}
