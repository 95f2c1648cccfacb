import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

function terminalOn(stdout: { isTTY?: boolean; columns?: number }, stderr: { isTTY?: boolean }, json = false) {
  const stream = (more: object) => Object.assign(new Writable({ write: (_, __, done) => done() }), more);
  const streams = {
    stdin: {},
    stdout: stream(stdout),
    stderr: stream(stderr),
    env: {},
    asTyped: (text: string) => text,
  };
  return openTerminal({ json, quiet: false, noInput: false }, streams);
}

test('a terminal has its reported or the usual width; a pipe has none', () => {
  expect(terminalOn({ isTTY: true, columns: 61 }, {}).columns).toBe(61);
  expect(terminalOn({ isTTY: true, columns: 0 }, {}).columns).toBe(80);
  expect(terminalOn({ columns: 61 }, { isTTY: true }).columns).toBeNull();
});

test('output to anything but a terminal does not count as seen by one person', () => {
  expect(terminalOn({ isTTY: true }, { isTTY: true }).isSeen).toBe(true);
  expect(terminalOn({ isTTY: true }, {}).isSeen).toBe(false);
  expect(terminalOn({}, { isTTY: true }).isSeen).toBe(false);
  expect(terminalOn({ isTTY: true }, { isTTY: true }, true).isSeen).toBe(false);
});
