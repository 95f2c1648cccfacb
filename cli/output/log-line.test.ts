import { expect, test } from 'vitest';
import { parseLine } from '../../stack/logs/read-logs.ts';
import { describeLogLine } from './log-line.ts';

const plain = { paint: (_: string, text: string) => text, columns: null, asTyped: (text: string) => text };

test('a line has its time, and an error its message', () => {
  const err = {
    type: 'SvcError',
    message: 'The bus cannot be reached.',
    stack: 'SvcError: …\n    at connect',
    code: 'x',
  };
  const text = JSON.stringify({
    ...{ level: 'warn', time: '2026-01-02T03:04:05.678Z', service: 'runtime', name: 'bus', msg: 'could not connect' },
    ...{ err, count: 2, url: 'nats://127.0.0.1:1' },
  });
  expect(describeLogLine(parseLine('runtime', text), plain)).toBe(
    '03:04:05.678 runtime    warn  could not connect err="The bus cannot be reached." count=2 url=nats://127.0.0.1:1',
  );
});

test('stays one line, whatever its message or fields contain', () => {
  const text = JSON.stringify({ level: 30, time: 1, msg: 'a\nb', reason: 'c\r\nd', request: 'e\u2028f' });
  const told = describeLogLine(parseLine('backend', text), plain);
  expect(told).not.toMatch(/[\n\r\u2028]/);
  expect(told).toMatch(/ a · b request=e · f reason=c · d$/);
});

test('a line of an MCP server has its name', () => {
  const written = { level: 'info', time: 1, name: 'mcp-server.files', mcpServer: 'x', msg: 'wrote to standard error' };
  const told = describeLogLine(parseLine('runtime', JSON.stringify({ ...written, stderr: 'a\nb' })), plain);
  expect(told).toBe('00:00:00.001 runtime    info  files: a · b');
  const { stderr: _, ...other } = { ...written, stderr: '', msg: 'left out more lines' };
  expect(describeLogLine(parseLine('runtime', JSON.stringify(other)), plain)).toMatch(/files: left out more lines$/);
});

test('is broken between words on a terminal', () => {
  const text = JSON.stringify({ level: 30, time: 1, msg: 'one two three four five six seven', path: 'eight' });
  expect(describeLogLine(parseLine('backend', text), { ...plain, columns: 50 })).toBe(
    '00:00:00.001 backend    info  one two three four\n    five six seven path=eight',
  );
});
