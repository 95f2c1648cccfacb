import { describe, expect, test } from 'vitest';
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
  if (head?.kind !== 'report') throw new Error('no report');
  return { head: head.report, lists: parts.flatMap((part) => (part.kind === 'tools' ? [part] : [])) };
};

test('what is written is read again, tools in slices beside the MCP server they belong to', () => {
  const fine = { refused: [], refusedLists: new Map() };
  expect([...readReport(bytes(good), 2)]).toEqual([
    { kind: 'report', report: { ...whole, ...fine } },
    { kind: 'tools', mcpServer: first, tools: [tool('a'), tool('b')], refused: [] },
    { kind: 'tools', mcpServer: first, tools: [tool('c')], refused: [] },
    { kind: 'tools', mcpServer: second, tools: [tool('a')], refused: [] },
  ]);
});

describe('refused as a whole', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['nothing', [], /no report/],
    ['no JSON', ['{'], /no report/],
    ['no report', ['{"complete":true}'], /no report \(mcpServers\)/],
    ['an entry that names no MCP server', ['{"complete":true,"mcpServers":[{"mcpServer":"x"}]}'], /does not name/],
    ['lines without end', [...good, ...Array.from({ length: 200_001 }, () => '')], /more than 200000 lines/],
  ];
  test.each(cases)('%s', (_name, lines, message) => {
    expect(() => [...readReport(bytes(lines), 100)]).toThrow(message);
  });
});

describe('an entry that is wrong is refused by name, the rest of the report counts', () => {
  const entry = server(first, 3);
  const bad: readonly (readonly [string, object, RegExp])[] = [
    ['a reason too long', { reason: { code: 'x', message: 'x'.repeat(4001), repair: '' } }, /"reason.message"/],
    ['another status', { status: 'Fine' }, /"status"/],
    ['a negative count of restarts', { restarts: -1 }, /"restarts"/],
    ['21 lines of stderr', { stderr: Array.from({ length: 21 }, () => '') }, /"stderr"/],
    ['a time that is none', { startedAt: 'now' }, /"startedAt"/],
  ];
  test.each(bad)('%s', (_name, wrong, why) => {
    const mcpServers = [{ ...entry, ...wrong }, server(silent), server(second, 1)];
    const { head, lists } = read([JSON.stringify({ complete: true, mcpServers }), ...good.slice(1)]);
    expect(head.refused).toEqual([{ mcpServer: first, configVersion: 1, why: expect.stringMatching(why) }]);
    expect(head.mcpServers.map(({ mcpServer }) => mcpServer)).toEqual([silent, second]);
    expect(lists.flatMap(({ tools }) => tools)).toEqual([tool('a')]);
  });

  test('one that is named twice', () => {
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

test('a line that is not JSON is refused as the tool it stands for', () => {
  const { lists } = read([...good.slice(0, 2), '{"name":', ...good.slice(3)]);
  expect(lists[0]?.refused).toEqual([{ name: 'tool 2', why: 'its line is not JSON' }]);
});

describe('a wrong count of tools refuses lists and no status', () => {
  test.each([
    ['a tool missing', good.slice(0, -1)],
    ['a tool too many', [...good, JSON.stringify(tool('z'))]],
  ])('%s: which list it belongs to cannot be told', (_name, lines) => {
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

  test('more than a list may have', () => {
    const mcpServers = [server(first, 20_001), server(second, 1)];
    const tools = Array.from({ length: 20_002 }, (_, at) => JSON.stringify(tool(`t${at}`)));
    const { head, lists } = read([JSON.stringify({ complete: true, mcpServers }), ...tools]);
    expect([...head.refusedLists.keys()]).toEqual([first]);
    expect(lists.flatMap((list) => list.tools)).toEqual([tool('t20001')]);
  });
});

test('control characters of what is shown are replaced', () => {
  const reason = { code: 'x', message: 'a\0b\u001b\ud800', repair: '' };
  const mcpServers = [{ ...server(first), reason, stderr: ['\u0007'] }];
  const { head } = read([JSON.stringify({ complete: true, mcpServers })]);
  expect(head.mcpServers).toMatchObject([{ reason: { message: 'a b \ufffd' }, stderr: [' '] }]);
});
