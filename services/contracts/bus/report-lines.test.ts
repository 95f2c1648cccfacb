import { describe, expect, test } from 'vitest';
import { workedMs } from '../../kit/test/worked-ms.ts';
import { newId } from '../ids.ts';
import type { Report, ServerReport } from './messages.ts';
import { readReport, reportLines } from './report-lines.ts';

const first = newId('mcpServer');
const silent = newId('mcpServer');
const second = newId('mcpServer');
const tool = (name: string) => ({ name, definition: JSON.stringify({ name, description: 'line\nbreak, ü' }) });
const toolsOf = new Map([
  [first, [tool('a'), tool('b'), tool('c')]],
  [second, [tool('a')]],
]);
const whole: Report = { complete: true, mcpServers: [server(first, 3), server(silent), server(second, 1)] };

function server(mcpServer: ServerReport['mcpServer'], tools?: number): ServerReport {
  return {
    mcpServer,
    configVersion: 1,
    status: 'Connected',
    health: 'green',
    reason: null,
    restarts: 0,
    startedAt: 1,
    nextRetryAt: null,
    stderr: [],
    ...(tools === undefined ? {} : { tools }),
  };
}

function bytes(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.join('\n'));
}

const good = [...reportLines(whole, (id) => toolsOf.get(id) ?? [])];

const read = (lines: readonly string[], sliceMax = 100) => {
  const parts = [...readReport(bytes(lines), sliceMax)];
  const [head] = parts;
  if (head?.kind !== 'report') throw new Error('not a report');
  return { head: head.report, lists: parts.flatMap((part) => (part.kind === 'tools' ? [part] : [])) };
};

test('a written report is read again, tools in slices beside their MCP server', () => {
  const fine = { refused: [], refusedLists: new Map() };
  expect([...readReport(bytes(good), 2)]).toEqual([
    { kind: 'report', report: { ...whole, ...fine } },
    { kind: 'tools', mcpServer: first, tools: [tool('a'), tool('b')], refused: [] },
    { kind: 'tools', mcpServer: first, tools: [tool('c')], refused: [] },
    { kind: 'tools', mcpServer: second, tools: [tool('a')], refused: [] },
  ]);
});

test('a slice ends after large tools, however many it may hold', () => {
  const large = (name: string) => ({ name, definition: 'x'.repeat(200_000) });
  const tools = [...'abcd'].map(large).concat(tool('e'), tool('f'));
  const lines = [...reportLines({ complete: true, mcpServers: [server(first, tools.length)] }, () => tools)];
  const names = read(lines).lists.map((list) => list.tools.map(({ name }) => name));
  expect(names).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
});

describe('refused as a whole', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['nothing', [], /not a report/],
    ['no JSON', ['{'], /not a report/],
    ['not a report', ['{"complete":true}'], /not a report \(mcpServers\)/],
    ['an entry that names no MCP server', ['{"complete":true,"mcpServers":[{"mcpServer":"x"}]}'], /does not name/],
    ['lines without end', [...good, ...Array.from({ length: 200_001 }, () => '')], /more than 200000 lines/],
  ];
  test.each(cases)('%s', (_name, lines, message) => {
    expect(() => [...readReport(bytes(lines), 100)]).toThrow(message);
  });
});

describe('a wrong entry is refused by name, the rest of the report counts', () => {
  const entry = server(first, 3);
  const bad: readonly (readonly [string, object, RegExp])[] = [
    ['a reason too long', { reason: { code: 'x', message: 'x'.repeat(4001), repair: '' } }, /"reason.message"/],
    ['another status', { status: 'Fine' }, /"status"/],
    ['a negative count of restarts', { restarts: -1 }, /"restarts"/],
    ['21 lines of stderr', { stderr: Array.from({ length: 21 }, () => '') }, /"stderr"/],
    ['an invalid time', { startedAt: 'now' }, /"startedAt"/],
  ];
  test.each(bad)('%s', (_name, wrong, why) => {
    const mcpServers = [{ ...entry, ...wrong }, server(silent), server(second, 1)];
    const { head, lists } = read([JSON.stringify({ complete: true, mcpServers }), ...good.slice(1)]);
    expect(head.refused).toEqual([{ mcpServer: first, configVersion: 1, why: expect.stringMatching(why) }]);
    expect(head.mcpServers.map(({ mcpServer }) => mcpServer)).toEqual([silent, second]);
    expect(lists.flatMap(({ tools }) => tools)).toEqual([tool('a')]);
  });

  test('a duplicate entry', () => {
    const { head } = read([
      JSON.stringify({ complete: true, mcpServers: [server(first), server(second), server(first)] }),
    ]);
    expect(head.refused).toMatchObject([{ mcpServer: first, why: 'the report names it twice' }]);
    expect(head.mcpServers).toMatchObject([{ mcpServer: second }]);
  });
});

test.each([
  ['NUL', { name: 'a\0' }, /a .*its name/],
  ['half a surrogate pair', { name: 'a\ud800' }, /its name/],
  ['a name too long', { name: 'x'.repeat(1001) }, /xxx…: its name/],
  ['no name', { name: undefined }, /tool 2: its name/],
  ['no definition', { definition: undefined }, /its definition/],
  ['a definition that is not well-formed', { definition: '"\ud800"' }, /its definition/],
])('a tool with %s is refused by name, the others are taken', (_name, wrong, why) => {
  const { lists } = read([...good.slice(0, 2), JSON.stringify({ ...tool('b'), ...wrong }), ...good.slice(3)]);
  expect(lists.map(({ tools }) => tools)).toEqual([[tool('a'), tool('c')], [tool('a')]]);
  const told = lists.flatMap(({ refused }) => refused.map(({ name, why }) => `${name}: ${why}`));
  expect(told).toEqual([expect.stringMatching(why)]);
});

test('a line that is not JSON is refused as the tool in its place', () => {
  const { lists } = read([...good.slice(0, 2), '{"name":', ...good.slice(3)]);
  expect(lists[0]?.refused).toEqual([{ name: 'tool 2', why: 'its line is not JSON' }]);
});

describe('a wrong count of tools refuses lists and no status', () => {
  test.each([
    ['a tool missing', good.slice(0, -1)],
    ['a tool too many', [...good, JSON.stringify(tool('z'))]],
  ])('%s: the ends of the lists are unknown', (_name, lines) => {
    const { head, lists } = read(lines);
    expect(head.mcpServers).toEqual([server(first), server(silent), server(second)]);
    expect([...head.refusedLists.keys()]).toEqual([first, second]);
    expect(lists).toEqual([]);
  });

  test.each([-1, 1.5, '3', null])('%j as a count', (tools) => {
    const mcpServers = [{ ...server(first), tools }, server(second, 1)];
    const { head, lists } = read([JSON.stringify({ complete: true, mcpServers }), JSON.stringify(tool('a'))]);
    expect([...head.refusedLists.keys()]).toEqual([first]);
    expect(head.mcpServers).toEqual([server(first), server(second, 1)]);
    expect(lists).toMatchObject([{ mcpServer: second, tools: [tool('a')] }]);
  });

  test('more than the maximum of a list', () => {
    const mcpServers = [server(first, 20_001), server(second, 1)];
    const tools = Array.from({ length: 20_002 }, (_, at) => JSON.stringify(tool(`t${at}`)));
    const { head, lists } = read([JSON.stringify({ complete: true, mcpServers }), ...tools]);
    expect([...head.refusedLists.keys()]).toEqual([first]);
    expect(lists.flatMap((list) => list.tools)).toEqual([tool('t20001')]);
  });
});

test('control characters in shown texts are replaced', () => {
  const reason = { code: 'x', message: 'a\0b\u001b\ud800', repair: '' };
  const mcpServers = [{ ...server(first), reason, stderr: ['\u0007'] }];
  const { head } = read([JSON.stringify({ complete: true, mcpServers })]);
  expect(head.mcpServers).toMatchObject([{ reason: { message: 'a b \ufffd' }, stderr: [' '] }]);
});

describe('a line with too many values is not parsed', () => {
  const arrays = (count: number) => `[${Array.from({ length: count }, () => '[]').join(',')}]`;
  const late = 'it holds more than';

  test.each<readonly [string, string, number | undefined]>([
    ['five million empty arrays in 16 MB', `{"complete":true,"mcpServers":${arrays(5_300_000)}}`, undefined],
    ['five million members', `{"complete":true,${'"":0,'.repeat(3_000_000)}"mcpServers":[]}`, undefined],
    ['arrays in arrays', `{"complete":true,"mcpServers":[${'['.repeat(5_000_000)}`, undefined],
    ['more than a workspace can have', `{"complete":true,"mcpServers":${arrays(50_000)}}`, 2000],
  ])('%s', (_name, line, serversMax) => {
    const payload = bytes([line]);
    const startedAt = workedMs();
    expect(() => [...readReport(payload, 100, serversMax)]).toThrow(late);
    expect(workedMs() - startedAt).toBeLessThan(300);
  });

  test('commas and brackets inside a text are not counted as values, also after an escaped quote', () => {
    const message = '\\"[{,'.repeat(600);
    const entries = Array.from({ length: 2000 }, () => ({
      ...server(newId('mcpServer'), 0),
      status: 'Error' as const,
      reason: { code: 'exit', message, repair: '' },
      stderr: Array.from({ length: 20 }, () => ',"[,'),
    }));
    const [head] = [...readReport(bytes([JSON.stringify({ complete: true, mcpServers: entries })]), 100, 2000)];
    expect(head?.kind === 'report' && head.report.mcpServers.length).toBe(2000);
  });

  test('more MCP servers than the runtime may have are refused before any is read', () => {
    const line = JSON.stringify({ complete: true, mcpServers: [server(first), server(second), server(silent)] });
    expect(() => [...readReport(bytes([line]), 100, 2)]).toThrow('names 3 MCP servers');
  });

  test('a tool of too many values or bytes is dropped, the others count', () => {
    const lines = [
      JSON.stringify({ complete: true, mcpServers: [server(first, 3)] }),
      `{"name":"many","definition":"","more":${arrays(3_000_000)}}`,
      JSON.stringify({ name: 'long', definition: '', more: 'x'.repeat(8_000_000) }),
      JSON.stringify(tool('fine')),
    ];
    const { lists } = read(lines);
    const why = 'its line is longer than that of any tool, or holds more values';
    expect(lists.flatMap(({ tools }) => tools)).toEqual([tool('fine')]);
    expect(lists.flatMap(({ refused }) => refused)).toEqual([
      { name: 'tool 1', why },
      { name: 'tool 2', why },
    ]);
  });

  test('a tool of the largest definition counts, however it is escaped', () => {
    const definition = '\u0001'.repeat(1_048_576);
    const line = JSON.stringify({ name: 'largest', definition });
    expect(
      read([JSON.stringify({ complete: true, mcpServers: [server(first, 1)] }), line]).lists[0]?.tools,
    ).toHaveLength(1);
  });
});
