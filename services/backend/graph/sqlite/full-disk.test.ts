import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { canMount, SmallDisk } from '../../../../stack/test/small-disk.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { settingNode } from '../contract/sample-nodes.contract.ts';
import { Connection } from './connection.ts';
import { openSqliteGraph } from './sqlite-graph.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-full-disk-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.skipIf(!canMount)(
  'a full disk refuses by name, loses nothing acknowledged, keeps reading, and is over when there is room',
  async () => {
    using disk = SmallDisk.mount(folder, 4);
    const file = join(folder, 'graph.sqlite');
    disk.fill(3 * 1024 * 1024);
    const graph = await openSqliteGraph({ file });
    const add = (name: string) =>
      graph.write(async (transaction) => {
        await transaction.create('setting', settingNode(name, 'x'.repeat(20_000)));
        await transaction.create('setting', settingNode(`${name} too`));
      });
    const acknowledged: string[] = [];
    let refusal: unknown = null;
    for (let i = 0; refusal === null; i++) {
      try {
        await add(`${i}`);
        acknowledged.push(`${i}`, `${i} too`);
      } catch (thrown) {
        refusal = thrown;
      }
      if (i > 1000) expect.fail('the disk does not fill up');
    }
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(refusal).toBeInstanceOf(SvcError);
    expect(refusal).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/disk is full/) });
    await expect(add('again')).rejects.toMatchObject({ code: 'unavailable' });
    // More than the cache holds, so that a write fails and not the end of the transaction.
    const careless = graph.write(async (transaction) => {
      for (let i = 0; i < 24; i++) {
        await transaction.create('setting', settingNode(`careless ${i}`, 'x'.repeat(1_000_000))).catch(() => {});
      }
    });
    await expect(careless).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/full/) });
    const stored = async () =>
      (await graph.select({ type: 'setting', anchor: null, limit: 1000 })).nodes.map(({ name }) => name).sort();
    expect(await stored()).toEqual(acknowledged.sort());

    disk.makeRoom();
    await add('room');
    const expected = [...acknowledged, 'room', 'room too'].sort();
    expect(await stored()).toEqual(expected);
    await graph.close();
    const again = await openSqliteGraph({ file });
    const { nodes } = await again.select({ type: 'setting', anchor: null, limit: 1000 });
    expect(nodes.map(({ name }) => name).sort()).toEqual(expected);
    await again.close();
  },
);

it.skipIf(!canMount)(
  'a disk that is full at the start is reported, and the graph works once there is room',
  async () => {
    using disk = SmallDisk.mount(folder, 4);
    const file = join(folder, 'second.sqlite');
    // Runs twice: the file that SQLite shares with readers needs room too, even if it exists and nothing is written.
    for (const _ of ['new', 'there already']) {
      disk.fill();
      await expect(openSqliteGraph({ file })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/disk is full/),
      });
      disk.makeRoom();
      await (await openSqliteGraph({ file })).close();
    }
  },
);

it('a database that cannot grow refuses by name, loses nothing, keeps reading, and recovers when there is room', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-full-database-'));
  const file = join(dir, 'graph.sqlite');
  const connection = new Connection({ file, readOnly: false });
  try {
    connection.exec('create table kept (text text not null) strict');
    connection.exec('pragma max_page_count = 20');
    const keep = () => connection.run('insert into kept (text) values (?)', ['x'.repeat(4000)]);
    const count = () => connection.row('select count(*) from kept', [])?.[0];
    let kept = 0;
    expect(() => {
      for (; kept < 1000; kept++) keep();
    }).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: `The disk is full: nothing was saved to "${file}", and nothing that was there is lost.`,
      }),
    );
    expect(kept).toBeGreaterThan(5);
    expect(count()).toBe(kept);
    connection.exec('pragma max_page_count = 40');
    keep();
    expect(count()).toBe(kept + 1);
  } finally {
    connection.close();
    rmSync(dir, { recursive: true });
  }
});
