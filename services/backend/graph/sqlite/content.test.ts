import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type ContentEngine, contentContract, filled, using } from '../content.contract.ts';
import { readContent } from '../content.ts';
import { openAt } from '../contract/graph-address.contract.ts';
import { schema } from '../schema.ts';
import { Connection } from './connection.ts';
import { copyGraph, openSqliteContent } from './content.ts';
import { migrate } from './migrate.ts';
import { storageItems } from './storage.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-content-'));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

const empty = async () => ({ url: `file:${join(folder, `${++files}.sqlite`)}` });
const fileOf = (url: string) => fileURLToPath(url);
const engine: ContentEngine = {
  name: 'SQLite',
  empty,
  open: async ({ url }) => openSqliteContent({ file: fileOf(url), readOnly: false }),
};
const reading: ContentEngine = {
  ...engine,
  open: async ({ url }) => openSqliteContent({ file: fileOf(url), readOnly: true }),
};

describe('the content of a graph (SQLite)', () => contentContract(engine));

describe('the content of a file', () => {
  it('is copied while a backend writes, and the copy is private', async () => {
    const address = await empty();
    await filled(address);
    const before = await using(reading, address, readContent);
    const graph = await openAt(address);
    const copy = `${fileOf(address.url)}.copy`;
    await copyGraph(fileOf(address.url), copy);
    await graph.close();
    expect(await using(reading, { url: `file:${copy}` }, readContent)).toEqual(before);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  it('is read as a snapshot while a backend has it open', async () => {
    const address = await empty();
    const { workspace } = await filled(address);
    const before = await using(reading, address, readContent);
    const graph = await openAt(address);
    const content = openSqliteContent({ file: fileOf(address.url), readOnly: true });
    await content.nodes('workspace')[Symbol.asyncIterator]().next();
    await graph.write((transaction) => transaction.update('workspace', workspace, { name: 'b' }, { anchor: null }));
    expect(await readContent(content)).toEqual(before);
    await content.close();
    await graph.close();
  });

  it('of a newer version is refused by name', async () => {
    const address = await empty();
    await filled(address);
    const connection = new Connection({ file: fileOf(address.url), readOnly: false });
    connection.run('insert into storage (name, definition) values (?, ?)', ['column role.colour', 'text']);
    connection.close();
    await expect(reading.open(address)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('"column role.colour"'),
    });
  });

  it('is read despite indexes of another version', async () => {
    const address = await empty();
    await filled(address);
    const before = await using(reading, address, readContent);
    const connection = new Connection({ file: fileOf(address.url), readOnly: false });
    migrate(connection, storageItems({ ...schema, tool: { ...schema.tool, search: [] } }));
    const searched = storageItems({ ...schema, activity: { ...schema.activity, search: ['subjectName'] } });
    expect(migrate(connection, searched)?.added).toContain('table activity_word');
    connection.close();
    expect(await using(reading, address, readContent)).toEqual(before);
  });

  it('of a file that is not a graph is refused by name', async () => {
    await expect(reading.open({ url: `file:${join(folder, 'nowhere', 'x')}` })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
