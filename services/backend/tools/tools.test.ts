import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ToolId } from '../../contracts/ids.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { toolNamed } from '../test/test-runtime.ts';
import { ensureTools, type ToolRef } from './ensure-tools.ts';
import { storeTools, unlistTools } from './store-tools.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await openTestBackend();
});
afterAll(() => backend.close());

let count = 0;
async function newServer(name = 'files') {
  const { id: workspace, owner } = await addWorkspace(backend, `workspace-${count++}`);
  const server = await createMcpServer(backend, owner, workspace, { name, launch: { command: 'run' } });
  const ensure = (refs: readonly ToolRef[]) =>
    backend.graph.write((transaction) => ensureTools(transaction, workspace, refs));
  const find = (id: ToolId | undefined) => (id === undefined ? null : backend.graph.find('tool', id, workspace));
  return { workspace, owner, server, ensure, find };
}

test('a tool may be referenced before it is listed, and stays the same node', async () => {
  const { server, ensure, find } = await newServer();
  const [read, write, again] = await ensure([
    { mcpServer: 'files', tool: 'read' },
    { mcpServer: 'files', tool: 'write' },
    { mcpServer: 'files', tool: 'read' },
  ]);
  expect(again).toBe(read);
  expect(await find(read)).toMatchObject({ name: null, definition: null, listed: false });
  await storeTools(backend.graph, server, [toolNamed('read')]);
  expect(await find(read)).toMatchObject({ name: 'read', listed: true, mcpServer: server.id });
  expect(await find(write)).toMatchObject({ name: null, listed: false });
  expect(await ensure([{ mcpServer: 'files', tool: 'read' }])).toEqual([read]);
});

test('a tool leads to its MCP server, however it was created', async () => {
  const { workspace, server, ensure } = await newServer();
  await ensure([{ mcpServer: 'files', tool: 'read' }]);
  await storeTools(backend.graph, server, [toolNamed('read'), toolNamed('write')]);
  const edge = { from: 'tool', edge: 'server' } as const;
  const tools = await backend.graph.followBack(edge, [server.id], { anchor: workspace, limitEach: 10 });
  expect(
    tools
      .get(server.id)
      ?.map(({ originalName }) => originalName)
      .sort(),
  ).toEqual(['read', 'write']);
});

test.each([
  ['an MCP server of another workspace', { mcpServer: 'theirs', tool: 'read' }, 'not_found'],
  ['a tool without a name', { mcpServer: 'mine', tool: '' }, 'invalid_input'],
  ['a tool with too long a name', { mcpServer: 'mine', tool: 'x'.repeat(1001) }, 'invalid_input'],
])('%s cannot be referenced', async (_name, ref, code) => {
  await newServer('theirs');
  const { ensure } = await newServer('mine');
  await expect(ensure([ref])).rejects.toMatchObject({ code });
});

test('a definition is written only when it differs', async () => {
  const { server, ensure, find } = await newServer();
  const [id] = await ensure([{ mcpServer: 'files', tool: 'read' }]);
  await storeTools(backend.graph, server, [toolNamed('read')]);
  const before = await find(id);
  await storeTools(backend.graph, server, [toolNamed('read')]);
  expect(await find(id)).toEqual(before);
  await storeTools(backend.graph, server, [toolNamed('read', 'reads a file')]);
  expect(await find(id)).toMatchObject({ version: (before?.version ?? 0) + 1, name: 'read' });
});

test('the first free name is given, and taken names are skipped', async () => {
  const { workspace, owner, server } = await newServer('files');
  const docs = await createMcpServer(backend, owner, workspace, { name: 'docs', launch: { command: 'run' } });
  await storeTools(backend.graph, server, [toolNamed('read'), toolNamed('docs_read')]);
  await storeTools(backend.graph, docs, [toolNamed('read')]);
  const where = [{ field: 'mcpServer' as const, equals: docs.id }];
  const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, where, limit: 10 });
  expect(nodes[0]?.name).toMatch(/^docs_read_[0-9a-f]{8}$/);
});

test('tools listed by another MCP server stay listed', async () => {
  const { workspace, owner, server } = await newServer('files');
  const docs = await createMcpServer(backend, owner, workspace, { name: 'docs', launch: { command: 'run' } });
  await storeTools(backend.graph, server, [toolNamed('read')]);
  await storeTools(backend.graph, docs, [toolNamed('find')]);
  await unlistTools(backend.graph, server, new Set());
  const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, limit: 10 });
  const listed = nodes.filter((tool) => tool.listed).map(({ originalName }) => originalName);
  expect(listed).toEqual(['find']);
});
