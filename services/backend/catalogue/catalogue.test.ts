import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CatalogueEntry, catalogueEntry, cataloguePath } from '../../contracts/catalogue.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { listen, stopListening } from '../../kit/http/listen.ts';
import { addErrors } from '../http/http-errors.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { createRole } from '../roles/change-roles.ts';
import { startRuntimes } from '../runtimes/start-runtimes.ts';
import { createMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { createSkill, updateSkill } from '../skills/change-skills.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, type TestRuntime, toolNamed } from '../test/test-runtime.ts';
import { updateWorkspace } from '../workspaces/update-workspace.ts';
import { addCatalogue, snapshotOf } from './catalogue-route.ts';
import { readCatalogue } from './read-catalogue.ts';

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;
let url: string;
const app = fastify();
const key = newKey('system').reveal();
const runtimeKey = newKey('system').reveal();

beforeAll(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key });
  await registerSystemKey(backend, operator, { component: 'runtime', key: runtimeKey, runtimeNames: ['other'] });
  addErrors(app, backend);
  addCatalogue(app, backend);
  await app.ready();
  url = await listen(app.server, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await stopListening(app.server, 1000);
  await app.close();
  await started.stop();
  await backend.close();
});

function pull(workspace: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}${cataloguePath}/${workspace}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
}

async function entriesOf(workspace: WorkspaceId): Promise<readonly CatalogueEntry[]> {
  const text = await (await pull(workspace)).text();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => catalogueEntry.parse(JSON.parse(line)));
}

let count = 0;
async function newWorkspace() {
  const name = `workspace-${count++}`;
  const { id, owner } = await addWorkspace(backend, name);
  return { id, owner, name };
}

async function fullWorkspace() {
  const { id, owner, name } = await newWorkspace();
  const files = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
  const docs = await createMcpServer(backend, owner, id, { name: 'docs', launch: { command: 'run' } });
  await cloud.report([{ mcpServer: files.id, tools: [toolNamed('read'), toolNamed('a/b')] }]);
  const refs = [
    { mcpServer: 'files', tool: 'read' },
    { mcpServer: 'files', tool: 'gone' },
    { mcpServer: 'docs', tool: 'find' },
  ];
  const skill = await createSkill(backend, owner, id, { name: 'notes', instructions: 'Take notes.', tools: refs });
  const role = await createRole(backend, owner, id, { name: 'Writer', skills: [skill.id] });
  return { id, owner, name, files, docs, skill, role };
}

describe('a catalogue', () => {
  test("lists a workspace's objects, one entry a line", async () => {
    const { id, name, files, docs, skill, role } = await fullWorkspace();
    const workspace = await backend.graph.find('workspace', id, null);
    const entries = await entriesOf(id);
    expect(entries[0]).toEqual({
      ...{ entry: 'head', workspace: id, name, suspended: false },
      version: workspace?.revision,
      statusVersion: workspace?.statusRevision,
    });
    expect(entries.filter(({ entry }) => entry === 'mcpServer')).toEqual([
      {
        ...{ entry: 'mcpServer', id: files.id, name: 'files', status: 'Connected', health: 'green' },
        ...{
          reason: null,
          nextRetryAt: null,
          runtimes: [],
          callTimeout: null,
          processes: [{ runtime: cloud.runtime, process: cloud.process }],
        },
      },
      expect.objectContaining({ id: docs.id, status: 'Disconnected', processes: [] }),
    ]);
    const tools = entries.filter((entry) => entry.entry === 'tool');
    expect(tools.map((tool) => [tool.originalName, tool.name, tool.mcpServer]).sort()).toEqual([
      ['a/b', 'a_b', files.id],
      ['read', 'read', files.id],
    ]);
    const read = tools.find((tool) => tool.name === 'read');
    expect(read?.definition).toBe(toolNamed('read').definition);
    expect(entries.filter(({ entry }) => entry === 'skill')).toEqual([
      {
        ...{ entry: 'skill', id: skill.id, name: 'notes', description: '', instructions: 'Take notes.' },
        tools: [read?.id],
        missingTools: expect.toSatisfy((missing) => missing.sort().join() === 'docs/find,files/gone'),
        mcpServers: expect.toSatisfy((ids) => ids.sort().join() === [files.id, docs.id].sort().join()),
        patterns: [],
        files: [],
      },
    ]);
    expect(entries.filter(({ entry }) => entry === 'role')).toEqual([
      {
        ...{ entry: 'role', id: role.id, name: 'Writer', description: '', enabled: true, skills: [skill.id] },
        ...{ readOnly: false, rules: [] },
      },
    ]);
    expect(entries.at(-1)).toEqual({ entry: 'end', entries: entries.length });
  });

  test('has the patterns of a skill, whose MCP servers it needs', async () => {
    const { id, owner } = await newWorkspace();
    const server = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
    await createSkill(backend, owner, id, { name: 'all', tools: [{ mcpServer: 'files', tool: 'read_*' }] });
    expect((await entriesOf(id)).find(({ entry }) => entry === 'skill')).toMatchObject({
      ...{ tools: [], missingTools: [], mcpServers: [server.id] },
      patterns: [{ mcpServer: server.id, pattern: 'read_*' }],
    });
  });

  test('of more than one page is complete', async () => {
    const { id, owner } = await newWorkspace();
    const server = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
    const names = Array.from({ length: 250 }, (_, i) => `tool-${i}`);
    await cloud.report([{ mcpServer: server.id, tools: names.map((name) => toolNamed(name)) }]);
    const tools = (await entriesOf(id)).filter((entry) => entry.entry === 'tool').map((tool) => tool.originalName);
    expect(tools.sort()).toEqual(names.sort());
  });

  test('contains nothing of another workspace', async () => {
    const { id } = await newWorkspace();
    await fullWorkspace();
    expect((await entriesOf(id)).map(({ entry }) => entry)).toEqual(['head', 'end']);
  });

  test('says that the workspace is suspended', async () => {
    const { id } = await newWorkspace();
    await updateWorkspace(backend, operator, id, { suspended: true });
    expect((await entriesOf(id))[0]).toMatchObject({ entry: 'head', suspended: true });
  });

  test('has no end when it changed while it was read', async () => {
    const { id, owner, skill } = await fullWorkspace();
    const workspace = await backend.graph.find('workspace', id, null);
    if (workspace === null) throw new Error('no workspace');
    const kinds: string[] = [];
    for await (const slice of readCatalogue(backend.graph, workspace, { appliesRules: true })) {
      kinds.push(...slice.map(({ entry }) => entry));
      if (kinds.length === 1) await updateSkill(backend, owner, id, skill.id, { description: 'other' });
    }
    expect(kinds).toEqual(['head']);
  });

  test('is complete as a snapshot, however often it changes', async () => {
    const { id, owner, skill } = await fullWorkspace();
    let isChanging = true;
    const changing = (async () => {
      for (let i = 0; isChanging; i++) await updateSkill(backend, owner, id, skill.id, { description: `${i}` });
    })();
    for (let i = 0; i < 10; i++) {
      const response = await pull(`${id}?snapshot`);
      const lines = (await response.text()).trimEnd().split('\n');
      const entries = lines.map((line) => catalogueEntry.parse(JSON.parse(line)));
      const [head] = entries;
      expect(entries.at(-1)).toEqual({ entry: 'end', entries: entries.length });
      if (head?.entry !== 'head') throw new Error('no head');
      expect(response.headers.get('etag')).toBe(`"${head.version}.${head.statusVersion}"`);
    }
    isChanging = false;
    await changing;
  });

  test('is not kept as a snapshot when it is too large for any reader', async () => {
    const { id, name } = await fullWorkspace();
    const { lines } = await snapshotOf(backend.graph, id, { appliesRules: true, sizeMaxBytes: 100_000 });
    const sizeBytes = Buffer.byteLength(lines.join(''));
    expect((await snapshotOf(backend.graph, id, { appliesRules: true, sizeMaxBytes: sizeBytes })).lines).toEqual(lines);
    await expect(
      snapshotOf(backend.graph, id, { appliesRules: true, sizeMaxBytes: sizeBytes - 1 }),
    ).rejects.toMatchObject({
      code: 'too_large',
      message: `The catalogue of "${name}" has more than ${sizeBytes - 1} bytes.`,
    });
  });
});

describe('its tag', () => {
  test('is not sent to a client with the current tag', async () => {
    const { id } = await fullWorkspace();
    const first = await pull(id);
    const etag = first.headers.get('etag') ?? '';
    const workspace = await backend.graph.find('workspace', id, null);
    expect(etag).toBe(`"${workspace?.revision}.${workspace?.statusRevision}"`);
    expect(first.headers.get('content-type')).toBe('application/x-ndjson');
    await first.text();
    for (const given of [etag, `W/${etag}`, `"0.0", ${etag}`, '*']) {
      const again = await pull(id, { 'if-none-match': given });
      expect(again.status, given).toBe(304);
      expect(await again.text()).toBe('');
    }
    expect((await pull(id, { 'if-none-match': '"0.0"' })).status).toBe(200);
  });

  test('changes with every change of configuration and of status', async () => {
    const { id, owner, files } = await fullWorkspace();
    const tag = async () => (await pull(id)).headers.get('etag');
    const tags = [await tag()];
    await updateMcpServer(backend, owner, id, files.id, { enabled: false });
    tags.push(await tag());
    await cloud.report([{ mcpServer: files.id, status: 'Error', health: 'red' }]);
    tags.push(await tag());
    await cloud.report([{ mcpServer: files.id, tools: [] }]);
    tags.push(await tag());
    expect(new Set(tags).size).toBe(4);
  });
});

describe('is refused', () => {
  const user = newKey('user').reveal();
  test.each<[string, Record<string, string>, number]>([
    ['without a key', { authorization: '' }, 401],
    ['without the word Bearer', { authorization: key }, 401],
    ['with a user key', { authorization: `Bearer ${user}` }, 401],
    ['with an unregistered system key', { authorization: `Bearer ${newKey('system').reveal()}` }, 401],
    ['with a system key that has a typo', { authorization: `Bearer ${key}x` }, 401],
    ['with the system key of a runtime', { authorization: `Bearer ${runtimeKey}` }, 403],
  ])('%s', async (_name, headers, status) => {
    const { id } = await newWorkspace();
    const response = await pull(id, headers);
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(text).not.toContain('head');
    for (const secret of [key, user, runtimeKey]) expect(text).not.toContain(secret);
  });

  test.each(['', 'acme', newId('workspace'), newId('role')])('for "%s", which is not a workspace', async (name) => {
    expect((await pull(name)).status).toBe(404);
  });
});
