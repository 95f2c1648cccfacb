import { expect, test } from 'vitest';
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
