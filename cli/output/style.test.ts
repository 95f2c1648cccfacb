import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { styled } from './style.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { seenWidth } from './width.ts';

const esc = String.fromCharCode(27);

/** The content of both streams. */
function written(work: (terminal: Terminal) => void, { json = false, colour = true } = {}): string {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  const env = colour ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' };
  const streams = { stdin: {}, stdout: stream, stderr: stream, env, asTyped: (text: string) => text };
  work(openTerminal({ json, quiet: false, noInput: false }, streams));
  return String(stream.read() ?? '');
}

const foreign = `${esc}[31mred${esc}[0m\u009b2J\u202e`;
const shown = '\ufffd[31mred\ufffd[0m\ufffd2J\ufffd';

test.each(['result', 'talk', 'complain'] as const)('%s: our colours stay, those of others are signs', (way) => {
  expect(written((terminal) => terminal[way](`${terminal.paint('green', foreign)} ${foreign}`))).toBe(
    `${esc}[32m${shown}${esc}[0m ${shown}\n`,
  );
  expect(written((terminal) => terminal[way](terminal.paint('green', foreign)), { colour: false })).toBe(`${shown}\n`);
});

test('a style mark in a foreign text is plain text', () => {
  const mark = styled('red', '').slice(0, 33);
  const forged = mark.replace(/[0-9a-f]{32}/, '0'.repeat(32));
  expect(forged).not.toBe(mark);
  const text = `${forged}[31mforged`;
  expect(seenWidth(text)).toBe([...text].length);
  expect(written((terminal) => terminal.result(text))).toBe(`\ufffd${'0'.repeat(32)}[31mforged\n`);
});

test('programs get the same text, escaped', () => {
  const json = written((terminal) => terminal.json({ text: foreign }), { json: true });
  expect(json).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(json)).toEqual({ text: foreign });
});
