import { expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import type { KeyDisclosure } from '../../contracts/key-disclosure.ts';
import { CatalogueBuilder } from '../catalogue/catalogue-builder.ts';
import { RuntimeProcess } from '../routing/runtime-process.ts';
import { nothingDisclosed } from '../sessions/disclosure.ts';
import { listTools } from './list-tools.ts';
import type { View } from './view.ts';

/** A session that sees one skill with `count` tools, each with a description of this length. */
async function viewOf(count: number, descriptionLength: number, disclosure: KeyDisclosure = 'skills'): Promise<View> {
  const workspace = newId('workspace');
  const server = newId('mcpServer');
  const skill = newId('skill');
  const builder = new CatalogueBuilder({ of: (runtime, process) => new RuntimeProcess(runtime, process) });
  const tools = Array.from({ length: count }, (_, i) => ({
    id: newId('tool'),
    name: `tool_${String(i).padStart(6, '0')}`,
  }));
  builder.add({ entry: 'head', workspace, name: 'acme', suspended: false, version: 1, statusVersion: 1 });
  builder.add({
    ...{ entry: 'mcpServer', id: server, name: 'files', status: 'Connected', health: 'green', reason: null },
    ...{ nextRetryAt: null, runtimes: [], processes: [{ runtime: newId('runtime'), process: 'pABCDEFGHIJK' }] },
  });
  const definition = JSON.stringify({ description: 'x'.repeat(descriptionLength), inputSchema: { type: 'object' } });
  for (const tool of tools)
    builder.add({ ...{ entry: 'tool', mcpServer: server, definition }, ...tool, originalName: tool.name });
  builder.add({
    ...{ entry: 'skill', id: skill, name: 'all', description: '', instructions: '' },
    ...{ tools: tools.map(({ id }) => id), missingTools: [], patterns: [], files: [], mcpServers: [server] },
  });
  builder.add({
    ...{ entry: 'role', id: newId('role'), name: 'All', description: '', enabled: true, skills: [skill] },
    ...{ readOnly: false, rules: [] },
  });
  builder.add({ entry: 'end', entries: tools.length + 5 });
  const catalogue = await builder.build();
  if (catalogue === null) throw new Error('incomplete');
  const principal = {
    ...{ key: newId('key'), keyName: 'agent', user: newId('user'), workspace, workspaceName: 'acme' },
    ...{ suspended: false, roles: null, disclosure, expiresAt: null },
  };
  return {
    catalogue,
    principal,
    session: { disclosure: { ...nothingDisclosed, skills: disclosure === 'all' ? [] : [skill] } },
  };
}

function pages(view: View): readonly (readonly string[])[] {
  const all: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = JSON.parse(listTools(view, cursor));
    all.push(page.tools.map(({ name }: { name: string }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

test('10,000 tools are listed page by page, each once and in order, after the constant ones', async () => {
  const view = await viewOf(10_000, 10);
  const all = pages(view);
  expect(all.length).toBe(11);
  for (const page of all) expect(page.length).toBeLessThanOrEqual(1000);
  const names = all.flat();
  expect(names.slice(0, 6)).toEqual([
    'list_skills',
    'load_skill',
    'read_skill_file',
    'call_tool',
    'activate_role',
    'deactivate_role',
  ]);
  expect(names.slice(6)).toEqual([...view.catalogue.toolsByName.keys()]);
});

test('a key that discloses all skills gets the same pages without loading a skill', async () => {
  const [loaded, all] = [await viewOf(3000, 10), await viewOf(3000, 10, 'all')];
  expect(pages(all)).toEqual(pages(loaded));
});

test('a page is bounded in length too, and holds at least one tool of any length', async () => {
  const view = await viewOf(5, 800_000);
  expect(pages(view).map((page) => page.length)).toEqual([7, 1, 1, 1, 1]);
  const long = await viewOf(2, 3_000_000);
  expect(pages(long).map((page) => page.length)).toEqual([7, 1]);
});

test('a cursor stays valid after its tool is removed', async () => {
  const view = await viewOf(3000, 10);
  const { nextCursor } = JSON.parse(listTools(view, undefined));
  const smaller = await viewOf(500, 10);
  expect(JSON.parse(listTools(smaller, nextCursor)).tools).toEqual([]);
});

test.each(['', 'nonsense!', 7, {}, 'x'.repeat(3000)])('an invalid cursor is refused: %s', async (cursor) => {
  const view = await viewOf(1, 10);
  expect(() => listTools(view, cursor)).toThrow(/cursor/);
});
