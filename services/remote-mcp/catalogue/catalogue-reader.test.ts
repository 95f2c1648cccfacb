import { describe, expect, test } from 'vitest';
import type { CatalogueEntry } from '../../contracts/catalogue.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { workedMs } from '../../kit/test/worked-ms.ts';
import { RuntimeProcess } from '../routing/runtime-process.ts';
import { explainSkill } from '../tools/explain.ts';
import { readCatalogue } from './catalogue-reader.ts';

const workspace = newId('workspace');
const server = newId('mcpServer');
const runtime = newId('runtime');
const runtimeProcess = newProcessId();
const skill = newId('skill');
const processes = { of: (of: typeof runtime, id: typeof runtimeProcess) => new RuntimeProcess(of, id) };

const tool = (i: number): Extract<CatalogueEntry, { entry: 'tool' }> => ({
  entry: 'tool',
  id: newId('tool'),
  mcpServer: server,
  name: `tool_${String(i).padStart(5, '0')}`,
  originalName: 'tool',
  definition: JSON.stringify({ name: 'tool', description: `ü number ${i}`, inputSchema: { type: 'object' } }),
});

function entriesOf(count: number): CatalogueEntry[] {
  const tools = Array.from({ length: count }, (_, i) => tool(count - i));
  const own = tools.map(({ id }) => id);
  const entries: CatalogueEntry[] = [
    { entry: 'head', workspace, name: 'acme', suspended: false, version: 3, statusVersion: 4 },
    {
      ...{ entry: 'mcpServer', id: server, name: 'files', status: 'Connected', health: 'green', reason: null },
      ...{ nextRetryAt: null, runtimes: [], processes: [{ runtime, process: runtimeProcess }] },
    },
    ...tools,
    {
      ...{ entry: 'skill', id: skill, name: 'all', description: '', instructions: '', tools: own },
      ...{ missingTools: [], patterns: [], files: [], mcpServers: [server] },
    },
    {
      ...{ entry: 'role' as const, id: newId('role'), name: 'All', description: '', enabled: true, skills: [skill] },
      ...{ readOnly: false, rules: [] },
    },
  ];
  return [...entries, { entry: 'end', entries: entries.length + 1 }];
}

const textOf = (entries: readonly object[]) => `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;

async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (entries: readonly object[], size = 1000) => readCatalogue(chunks(textOf(entries), size), processes);

test('everything is linked, and in the order of its names', async () => {
  const catalogue = await read(entriesOf(3), 7);
  expect(catalogue).toMatchObject({ workspace, name: 'acme', suspended: false, version: 3, statusVersion: 4 });
  const tools = [...(catalogue?.toolsByName.values() ?? [])];
  expect(tools.map(({ name }) => name)).toEqual(['tool_00001', 'tool_00002', 'tool_00003']);
  const [first] = tools;
  expect(first?.definition).toBe('{"name":"tool_00001","description":"ü number 1","inputSchema":{"type":"object"}}');
  expect(first?.originalNameText).toBe('"tool"');
  expect(first?.skills[0]).toBe(catalogue?.skillsById.get(skill));
  expect(first?.skills[0]?.roles.map(({ name }) => name)).toEqual(['All']);
  expect(first?.mcpServer.processes).toMatchObject([{ runtime, process: runtimeProcess, isThere: true }]);
});

describe('the patterns of a skill', () => {
  const following = (count: number, pattern: string) => {
    const tools = Array.from({ length: count }, (_, i) => ({ ...tool(i), originalName: `read_${10_000 + i}` }));
    return entriesOf(0).flatMap((entry): readonly object[] => {
      if (entry.entry === 'end') return [{ ...entry, entries: entry.entries + count }];
      return entry.entry === 'skill' ? [...tools, { ...entry, patterns: [{ mcpServer: server, pattern }] }] : [entry];
    });
  };

  test('give it the tools of this catalogue that match', async () => {
    const catalogue = await read(following(3, '*_1000*'));
    const found = catalogue?.skillsById.get(skill);
    expect(found?.tools.map(({ name }) => name)).toEqual(['tool_00000', 'tool_00001', 'tool_00002']);
    expect(found?.tools[0]?.skills).toEqual([found]);
    expect((await read(following(3, '*1')))?.skillsById.get(skill)?.tools.length).toBe(1);
    expect((await read(following(3, 'read')))?.skillsById.get(skill)?.tools).toEqual([]);
  });

  test('give it at most as many as a skill may have', async () => {
    const found = (await read(following(1002, '*')))?.skillsById.get(skill);
    expect([found?.tools.length, found?.leftOut]).toEqual([1000, 2]);
    expect(found === undefined ? '' : explainSkill(found)).toContain('2 tools that match the patterns');
  });

  test('are absent from older backends', async () => {
    const older = entriesOf(1).map((entry) => ({ ...entry, patterns: undefined }));
    expect((await read(older))?.skillsById.get(skill)?.tools.length).toBe(1);
  });
});

test('ten thousand tools are read in slices, and other work runs in between', async () => {
  const body = chunks(textOf(entriesOf(10_000)), 64 * 1024);
  const startedAt = workedMs();
  let isReading = true;
  let turnStartedAt = startedAt;
  let longestMs = 0;
  const turn = () => {
    longestMs = Math.max(longestMs, workedMs() - turnStartedAt);
    turnStartedAt = workedMs();
    if (isReading) setImmediate(turn);
  };
  setImmediate(turn);
  const catalogue = await readCatalogue(body, processes);
  const wholeMs = workedMs() - startedAt;
  isReading = false;
  await new Promise((resolve) => setImmediate(resolve));
  expect(catalogue?.toolsByName.size).toBe(10_000);
  // Sorting ten thousand names and garbage collection are the longest uninterrupted steps.
  expect(longestMs).toBeLessThan(wholeMs / 4);
});

describe('a pull', () => {
  const whole = entriesOf(2);

  test('that stops early is incomplete', async () => {
    for (let length = 1; length < whole.length; length++) expect(await read(whole.slice(0, length))).toBeNull();
    expect(await read([])).toBeNull();
  });

  test.each<[string, readonly object[]]>([
    ['lacks an entry', [...whole.slice(0, 2), ...whole.slice(3)]],
    ['has no head', whole.slice(1)],
    ['has two heads', [...whole.slice(0, 1), ...whole]],
    ['continues after its end', [...whole, ...whole.slice(2, 3)]],
    ['has an unknown kind of entry', [...whole.slice(0, 2), { entry: 'nonsense' }, ...whole.slice(2)]],
    ['has a malformed entry', [...whole.slice(0, 2), { entry: 'tool', id: 7 }]],
  ])('%s is refused', async (_what, entries) => {
    await expect(read(entries)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('with an endless line is refused before the whole line has arrived', async () => {
    let taken = 0;
    const endless = async function* () {
      for (; taken < 100; taken++) yield Buffer.alloc(1024 * 1024, ' ');
    };
    await expect(readCatalogue(endless(), processes)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('it is too large'),
    });
    expect(taken).toBeLessThan(10);
  });

  test('with invalid JSON is refused', async () => {
    await expect(readCatalogue(chunks('{"entry":\n', 100), processes)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a tool whose MCP server describes it wrongly is kept, but cannot be listed', async () => {
  const entries = entriesOf(0);
  const wrong = ['[]', '{"name":"x"}', '{"inputSchema":{"type":"array"}}', '{"inputSchema":{"type":"object"}', '{},{}'];
  const tools = wrong.map((definition, i) => ({ ...tool(i), definition }));
  const end = { entry: 'end', entries: entries.length + tools.length };
  const catalogue = await read([...entries.slice(0, 2), ...tools, ...entries.slice(2, -1), end]);
  expect([...(catalogue?.toolsByName.values() ?? [])].map(({ definition }) => definition)).toEqual(
    wrong.map(() => null),
  );
});
