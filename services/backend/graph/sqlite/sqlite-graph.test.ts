import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, randomText } from '../../../contracts/ids.ts';
import { roleNode, settingNode } from '../contract/sample-nodes.contract.ts';
import { expectRefusal, inTurn } from '../contract/test-graph.contract.ts';
import { graphContract } from '../graph.contract.ts';
import type { Transaction } from '../graph.ts';
import { openSqliteGraph, type SqliteGraphLimits } from './sqlite-graph.ts';

const folder = join(tmpdir(), `svc-graph-${randomText(8)}`);
let files = 0;
const newFile = () => join(folder, `${++files}.sqlite`);
const workspace = newId('workspace');

beforeAll(() => void mkdirSync(folder));
afterAll(() => rmSync(folder, { recursive: true }));

graphContract({ name: 'SQLite', empty: async () => ({ url: `file:${newFile()}` }) });

describe('the SQLite file', () => {
  it('is accessible to its owner alone, like the files beside it', async () => {
    const file = newFile();
    writeFileSync(file, '', { mode: 0o644 });
    await using test = await opened(file);
    await test.graph.write((transaction) => transaction.create('setting', settingNode('a')));
    for (const end of ['', '-wal', '-shm']) expect(statSync(file + end).mode & 0o777).toBe(0o600);
  });

  it('is the only file left after closing', async () => {
    const file = newFile();
    const { graph } = await opened(file);
    await graph.write((transaction) => transaction.create('setting', settingNode('a')));
    await graph.count({ type: 'setting', anchor: null, limit: 1 });
    await graph.close();
    expect(readdirSync(folder).filter((name) => join(folder, name).startsWith(file))).toHaveLength(1);
    const copy = newFile();
    writeFileSync(copy, readFileSync(file));
    await using again = await opened(copy);
    expect(await again.graph.count({ type: 'setting', anchor: null, limit: 1 })).toBe(1);
  });

  it('in a missing folder is refused by name', async () => {
    const file = join(folder, 'nowhere', 'graph.sqlite');
    await expectRefusal(openSqliteGraph({ file }), 'unavailable', /nowhere/);
  });

  it('that is not a database is refused and not changed', async () => {
    const file = newFile();
    const content = 'These are my notes.\n'.repeat(1000);
    writeFileSync(file, content);
    await expectRefusal(openSqliteGraph({ file }), 'unavailable', /damaged or is no database/);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('that is damaged inside is reported as damaged', async () => {
    const file = newFile();
    const { graph } = await opened(file);
    await graph.write((transaction) =>
      inTurn([...Array(500).keys()], (i) => transaction.create('setting', settingNode(`${i}`, 'x'.repeat(1000)))),
    );
    await graph.close();
    const bytes = readFileSync(file);
    // All but the first page, which lists the tables.
    bytes.fill(0xa5, 4096);
    writeFileSync(file, bytes);
    const reading = async () => {
      await using test = await opened(file);
      await test.graph.select({ type: 'setting', anchor: null, orderBy: 'name', limit: 1000 });
    };
    await expectRefusal(reading(), 'unavailable', /damaged/);
  });

  it('that another process holds is waited for, and then refused by name', async () => {
    const file = newFile();
    await using patient = await opened(file);
    await using impatient = await opened(file, { lockMs: 50 });
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const add = ({ graph }: typeof patient, name: string) =>
      graph.write((transaction) => transaction.create('setting', settingNode(name)));
    const waiting = add(patient, 'a');
    await expectRefusal(add(impatient, 'b'), 'unavailable', /locked by another process/);
    await expectRefusal(openSqliteGraph({ file, limits: { lockMs: 50 } }), 'unavailable', /locked by another process/);
    // Reads continue.
    expect(await impatient.graph.count({ type: 'setting', anchor: null, limit: 1 })).toBe(0);
    other.exec('rollback');
    other.close();
    await waiting;
    expect(await impatient.graph.findBy('setting', { name: 'a' }, null)).not.toBeNull();
  });
});

describe('a transaction of SQLite', () => {
  it('that hangs is rolled back at its deadline, and the next transactions run', async () => {
    await using test = await opened(newFile(), { workMs: 300 });
    const resume = Promise.withResolvers<void>();
    const kept: Promise<unknown>[] = [];
    const hung = test.graph.write(async (transaction: Transaction) => {
      await transaction.create('setting', settingNode('hung'));
      await resume.promise;
      kept.push(transaction.create('setting', settingNode('late')).catch((error: unknown) => error));
    });
    const behind = test.graph.write((transaction) => transaction.create('setting', settingNode('behind')));
    await expectRefusal(hung, 'timeout', /0\.3 s/);
    await behind;
    // It continues during another transaction, in which it must not write.
    await test.graph.write(async (transaction) => {
      resume.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await transaction.create('setting', settingNode('after'));
    });
    expect(await Promise.all(kept)).toMatchObject([{ code: 'internal' }]);
    const { nodes } = await test.graph.select({ type: 'setting', anchor: null, orderBy: 'name', limit: 10 });
    expect(nodes.map(({ name }) => name)).toEqual(['after', 'behind']);
  });

  it('is refused if too many wait, or if it has waited too long', async () => {
    await using test = await opened(newFile(), { waitingMax: 2, waitMs: -1 });
    const add = (name: string) => test.graph.write((transaction) => transaction.create('setting', settingNode(name)));
    const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map(add));
    const messages = outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'stored'));
    expect(messages).toEqual([
      'stored',
      expect.stringContaining('took too long'),
      expect.stringContaining('took too long'),
      expect.stringContaining('2 changes are waiting'),
    ]);
  });
});

describe('a slow read of SQLite', () => {
  it('delays neither look-ups nor transactions', async () => {
    await using test = await opened(newFile());
    await test.graph.write((transaction) =>
      inTurn([...Array(5000).keys()], (i) => transaction.create('role', roleNode(workspace, { name: `role ${i}` }))),
    );
    const order: string[] = [];
    const done = (what: string) => () => order.push(what);
    const search = 'role r ro rol';
    await Promise.all([
      test.graph.count({ type: 'role', anchor: workspace, search, limit: 1 }).then(done('count')),
      test.graph.findBy('role', { name: 'role 1' }, workspace).then(done('look-up')),
      test.graph.write((transaction) => transaction.create('setting', settingNode('a'))).then(done('transaction')),
    ]);
    expect(order).toEqual(['look-up', 'transaction', 'count']);
  });
});

async function opened(file: string, limits: Partial<SqliteGraphLimits> = {}) {
  const graph = await openSqliteGraph({ file, limits });
  return { graph, [Symbol.asyncDispose]: () => graph.close() };
}
