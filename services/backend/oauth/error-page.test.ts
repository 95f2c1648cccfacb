import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { errorPage, messageOf } from './error-page.ts';

test('a text of a stranger stays a text, and nothing runs', () => {
  const { html, headers } = errorPage(`<script>alert("1")</script> & '`);
  expect(html).toContain('<p>&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#39;</p>');
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
});

test('its policy permits its style', () => {
  const { html, headers } = errorPage('x');
  const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
});

test('an error that it has no words for is named', () => {
  expect(messageOf({ error: 'invalid_request', error_description: 'authorization request has expired' })).toBe(
    'The sign-in failed: authorization request has expired. Start the sign-in again in the agent.',
  );
});
