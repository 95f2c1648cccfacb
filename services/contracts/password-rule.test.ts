import { describe, expect, test } from 'vitest';
import { checkPassword } from './password-rule.ts';

describe('a new password', () => {
  const check = (text: string) => () => checkPassword(text, 'Ann@example.com');

  test.each(['ten chars!', 'x'.repeat(200), 'é'.repeat(10), '👍'.repeat(200)])('may be "%s"', (text) => {
    expect(check(text)).not.toThrow();
  });

  test.each([
    ['', '10 to 200 characters; this one has 0'],
    ['nine char', '10 to 200 characters; this one has 9'],
    ['x'.repeat(201), '10 to 200 characters; this one has 201'],
    ['e\u0301'.repeat(9), '10 to 200 characters; this one has 9'],
    ['ann@EXAMPLE.com', 'must not be the e-mail address'],
  ])('may not be "%s"', (text, message) => {
    expect(check(text)).toThrow(message);
  });

  test('is quoted by no refusal', () => {
    expect(check('hunter2')).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  });
});
