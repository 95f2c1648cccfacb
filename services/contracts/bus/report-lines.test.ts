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

test('what is written is read again, tools in slices beside the MCP server they belong to', () => {
  expect([...readReport(bytes(good), 2)]).toEqual([
    { kind: 'report', report: whole },
    { kind: 'tools', mcpServer: first, tools: [tool('a'), tool('b')] },
    { kind: 'tools', mcpServer: first, tools: [tool('c')] },
    { kind: 'tools', mcpServer: second, tools: [tool('a')] },
  ]);
});

describe('refused as a whole', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['nothing', [], /ends before/],
    ['no JSON', ['{'], /not JSON/],
    ['no report', ['{"complete":true}'], /no report \(mcpServers\)/],
    ['a tool missing', good.slice(0, -1), /ends before its last tool/],
    ['a tool too many', [...good, JSON.stringify(tool('z'))], /more lines/],
    ['a tool without definition', [...good.slice(0, -1), '{"name":"a"}'], /malformed \(definition\)/],
  ];
  test.each(cases)('%s', (_name, lines, message) => {
    expect(() => [...readReport(bytes(lines), 100)]).toThrow(message);
  });
});
