import { expect, it } from 'vitest';
import { type NodeType, schema } from '../schema.ts';
import { Connection } from './connection.ts';
import { migrate } from './migrate.ts';
import { storageItems } from './storage.ts';

const note: NodeType = { owned: true, fields: { title: 'text' }, unique: [], index: [], search: ['title'], edges: {} };

it('adds everything to an empty file, as migration 1, and then nothing', () => {
  const connection = newFile();
  const items = storageItems();
  expect(migrate(connection, items)).toEqual({ number: 1, added: items.map(({ name }) => name) });
  expect(migrate(connection, items)).toBeNull();
  expect(recorded(connection)).toEqual([1]);
});

it('adds a type, a field, an index and a unique field to existing data', () => {
  const connection = newFile();
  migrate(connection, storageItems({ note }));
  addNote(connection, 'n1', 'One');
  const fields = { title: 'text', pinned: 'boolean', order: 'integer', colour: 'text?', text: 'text' } as const;
  const grown: NodeType = { ...note, fields, unique: [['title']], index: ['order'] };
  const tag: NodeType = { owned: false, fields: { name: 'text' }, unique: [], index: [], search: [], edges: {} };
  expect(migrate(connection, storageItems({ note: grown, tag }))).toEqual({
    number: 2,
    added: [
      'column note.pinned',
      'column note.order',
      'column note.colour',
      'column note.text',
      'index note_unique_workspace_title',
      'index note_by_workspace_order',
      'index note_by_order',
      'table tag',
      'column tag.name',
    ],
  });
  expect(connection.rows('select * from note', [])).toEqual([['n1', 1, 'w', 'One', 0, 0, null, '']]);
  expect(() => addNote(connection, 'n2', 'One')).toThrow(/UNIQUE/);
  expect(recorded(connection)).toEqual([1, 2]);
});

it('lets an older version work with additions of a newer one', () => {
  const connection = newFile();
  const newer: NodeType = { ...note, fields: { title: 'text', text: 'text', pinned: 'boolean' } };
  migrate(connection, storageItems({ note: newer, other: note }));
  expect(migrate(connection, storageItems({ note }))).toBeNull();
  addNote(connection, 'n1', 'One');
  expect(migrate(connection, storageItems({ note: newer, other: note }))).toBeNull();
  expect(connection.rows('select title, text, pinned from note', [])).toEqual([['One', '', 0]]);
});

it('rebuilds search words when the searched fields change', () => {
  const connection = newFile();
  const fields = { title: 'text', text: 'text?' } as const;
  migrate(connection, storageItems({ note: { ...note, fields, search: [] } }));
  for (let i = 0; i < 2500; i++) addNote(connection, `n${i}`, `Note ${i}`);
  connection.run(`update note set text = 'Über alles' where id = 'n7'`, []);
  expect(migrate(connection, storageItems({ note: { ...note, fields } }))?.added).toContain('words note');
  expect(wordsOf(connection, 'n7')).toEqual(['7', 'note']);
  expect(connection.rows('select count(distinct id) from note_word', [])).toEqual([[2500]]);
  const both = { ...note, fields, search: ['title', 'text'] };
  expect(migrate(connection, storageItems({ note: both }))).toEqual({ number: 3, added: ['words note'] });
  expect(wordsOf(connection, 'n7')).toEqual(['7', 'alles', 'note', 'uber']);
});

it('removes unused indexes, and rebuilds them for a version that uses them', () => {
  const connection = newFile();
  const before = storageItems({ note: { ...note, unique: [['title']], index: ['title'] } });
  const now = storageItems({ note: { ...note, search: [] } });
  const left = before.map(({ name }) => name).filter((name) => now.every((item) => item.name !== name));
  migrate(connection, before);
  addNote(connection, 'n1', 'One');
  expect(migrate(connection, now)).toBeNull();
  const names = () => connection.rows('select name from sqlite_schema', []).map(([name]) => String(name));
  expect(names().filter((name) => /^note./.test(name))).toEqual(['note_by_workspace']);
  addNote(connection, 'n2', 'One');
  expect(() => migrate(connection, before)).toThrow(/"index note_unique_workspace_title" cannot be added/);
  connection.run(`update note set title = 'Two' where id = 'n2'`, []);
  expect(migrate(connection, before)).toMatchObject({ added: left });
  expect(wordsOf(connection, 'n2')).toEqual(['two']);
});

it('refuses a migration that would change existing data', () => {
  const connection = newFile();
  migrate(connection, storageItems({ note }));
  const changed: NodeType = { ...note, fields: { title: 'integer' } };
  expect(() => migrate(connection, storageItems({ note: changed }))).toThrow(/"column note.title" is "text not null/);
});

it('names the new rule that existing nodes break', () => {
  const connection = newFile();
  migrate(connection, storageItems({ note }));
  addNote(connection, 'n1', 'Same');
  addNote(connection, 'n2', 'Same');
  const unique = storageItems({ note: { ...note, unique: [['title']] } });
  expect(() => migrate(connection, unique)).toThrow(/"index note_unique_workspace_title" cannot be added/);
});

it('opens a file whose statuses are stored by process alone, and then stores them by runtime and process', () => {
  const connection = newFile();
  const before: NodeType = { ...schema.status, unique: [['mcpServer', 'process']] };
  migrate(connection, storageItems({ ...schema, status: before }));
  const add = (id: string, runtime: string) =>
    connection.run(`insert into status (id, workspace, mcpServer, runtime, process) values (?, 'w', 'm', ?, 'p')`, [
      id,
      runtime,
    ]);
  add('s1', 'r1');
  expect(() => add('s2', 'r2')).toThrow(/UNIQUE/);
  expect(migrate(connection, storageItems())?.added).toEqual([
    'index status_unique_workspace_mcpServer_runtime_process',
  ]);
  add('s2', 'r2');
  expect(() => add('s3', 'r2')).toThrow(/UNIQUE/);
  expect(connection.rows('select id, runtime from status', [])).toEqual([
    ['s1', 'r1'],
    ['s2', 'r2'],
  ]);
});

function newFile(): Connection {
  return new Connection({ file: ':memory:', readOnly: false });
}

function addNote(connection: Connection, id: string, title: string): void {
  connection.run(`insert into note (id, workspace, title) values (?, 'w', ?)`, [id, title]);
}

function recorded(connection: Connection) {
  return connection.rows('select number from migration order by number', []).map(([number]) => number);
}

function wordsOf(connection: Connection, id: string) {
  return connection.rows('select word from note_word where id = ? order by word', [id]).map(([word]) => word);
}
