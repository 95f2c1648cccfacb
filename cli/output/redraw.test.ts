import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

/** A picture that is drawn twice, on a terminal or into a pipe. */
function drawnTwice(env: Record<string, string>, isTTY: boolean, json = false): string {
  const stdout = Object.assign(new PassThrough(), { isTTY });
  const terminal = openTerminal(
    { json, quiet: false, noInput: false },
    { stdin: {}, stdout, stderr: new PassThrough(), env, asTyped: (text) => text },
  );
  terminal.redraw('one');
  terminal.redraw('two');
  return String(stdout.read() ?? '');
}

test('a new picture replaces the last one only on a terminal that can', () => {
  const clear = '\u001b[2J\u001b[H';
  expect(drawnTwice({ TERM: 'xterm' }, true)).toBe(`${clear}one\n${clear}two\n`);
  expect(drawnTwice({ TERM: 'dumb' }, true)).toBe('one\n\ntwo\n');
  expect(drawnTwice({ TERM: 'xterm' }, false)).toBe('one\n\ntwo\n');
  expect(drawnTwice({ TERM: 'xterm' }, true, true)).toBe('');
});
