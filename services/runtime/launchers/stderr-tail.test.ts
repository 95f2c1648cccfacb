import { describe, expect, test } from 'vitest';
import { StderrTail } from './stderr-tail.ts';

function tail(redact = (text: string) => text) {
  const forwarded: string[] = [];
  const made = new StderrTail(redact, (line) => forwarded.push(line));
  return { made, forwarded, push: (text: string) => made.push(Buffer.from(text)) };
}

test('the last twenty lines are kept, an unfinished one too', () => {
  const { made, forwarded, push } = tail();
  for (let i = 1; i <= 30; i++) push(`line ${i}\n`);
  push('unfin');
  push('ished');
  expect(made.lines()).toHaveLength(20);
  expect(made.lines()[0]).toBe('line 12');
  expect(made.lines().at(-1)).toBe('unfinished');
  expect(forwarded).toHaveLength(30);
});

describe('an error before a page of usage', () => {
  const usage = Array.from({ length: 40 }, (_, at) => `  --flag-${at}  Usage of this flag`);
  const error = ['Error: no context is set', 'Set one first', 'Usage:'];

  test('stays in front of the last lines', () => {
    const { made, push } = tail();
    push(`${['Starting', ...error, ...usage].join('\n')}\n`);
    expect(made.lines()).toEqual([...error, ...usage.slice(-17)]);
  });

  test('is not repeated when the last lines have an error', () => {
    const { made, push } = tail();
    push(`${[...error, ...usage, 'ERROR: gone'].join('\n')}\n`);
    expect(made.lines()).toEqual([...usage.slice(-19), 'ERROR: gone']);
  });

  test('does not explain the end of a program that wrote much after it', () => {
    const { made, push } = tail();
    push(`${[...error, ...usage, ...usage, ...usage].join('\n')}\n`);
    expect(made.lines()).toEqual(usage.slice(-20));
  });
});

test('lines are cut, escape sequences and control characters removed', () => {
  const { made, push } = tail();
  push(`\u001b[31mred\u001b[0m\u0007\tend\r\n${'x'.repeat(100_000)}\nshort\n`);
  expect(made.lines()).toEqual(['red \tend', 'x'.repeat(1000), 'short']);
});

test('secrets are redacted before a line is cut', () => {
  const secret = 's3cr3t-s3cr3t';
  const { made, forwarded, push } = tail((text) => text.replaceAll(secret, '[secret]'));
  push(`${'y'.repeat(995)}${secret}\n`);
  expect(made.lines()).toEqual([`${'y'.repeat(995)}[secr`]);
  expect(forwarded.join()).not.toContain('s3cr3t');
});
