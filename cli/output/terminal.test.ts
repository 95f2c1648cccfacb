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

test('an error is broken between words, and a command in it stays whole', () => {
  let written = '';
  const stderr = new Writable({
    write: (chunk, _, done) => {
      written += chunk;
      done();
    },
  });
  const say = (text: string, more: object) => {
    written = '';
    const streams = { stdin: {}, stdout: stderr, stderr: Object.assign(stderr, more), env: {} };
    openTerminal({ json: false, quiet: false, noInput: false }, { ...streams, asTyped: (typed) => typed }).complain(
      text,
    );
    return written;
  };
  const text =
    'Error: The port is in use by node. Stop that process, or choose another: svc config docs ports\n  Then: svc up';
  expect(say(text, { isTTY: true, columns: 40 })).toBe(
    'Error: The port is in use by node. Stop\nthat process, or choose another:\nsvc config docs ports\n  Then: svc up\n',
  );
  const command = 'svc server add everything -- npx -y @modelcontextprotocol/server-everything';
  expect(say(`Add one: ${command}. See it: svc status`, { isTTY: true, columns: 40 })).toBe(
    `Add one:\n${command}.\nSee it: svc status\n`,
  );
  expect(say(text, { isTTY: false, columns: 40 })).toBe(`${text}\n`);
});
