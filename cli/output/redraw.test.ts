import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

/** A picture that is drawn twice, on a terminal or into a pipe. */
function drawnTwice(env: Record<string, string>, isTTY: boolean, json = false, texts = ['one', 'two']): string {
  const stdout = Object.assign(new PassThrough(), { isTTY, rows: 5 });
  const terminal = openTerminal(
    { json, quiet: false, noInput: false },
    { stdin: {}, stdout, stderr: new PassThrough(), env, asTyped: (text) => text },
  );
  for (const text of texts) terminal.redraw(text);
  return String(stdout.read() ?? '');
}

test('a new picture replaces the last one only on a terminal that can', () => {
  const line = (text: string) => `${text}\u001b[K\n`;
  const picture = (...lines: readonly string[]) => `\u001b[H${lines.map(line).join('')}\u001b[J`;
  expect(drawnTwice({ TERM: 'xterm' }, true)).toBe(`\u001b[2J${picture('one')}${picture('two')}`);
  expect(drawnTwice({ TERM: 'xterm' }, true, false, ['1\n2\n3\n4', '1\n2\n3\n4\n5'])).toBe(
    `\u001b[2J${picture('1', '2', '3', '4')}${picture('1', '2', '3', '… and 2 more lines')}`,
  );
  expect(drawnTwice({ TERM: 'dumb' }, true)).toBe('one\n\ntwo\n');
  expect(drawnTwice({ TERM: 'xterm' }, false)).toBe('one\n\ntwo\n');
  expect(drawnTwice({ TERM: 'xterm' }, true, true)).toBe('');
});
