import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Markdown } from './markdown.tsx';

const htmlOf = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

test('Markdown of GitHub is formatted', () => {
  const html = htmlOf('# Title\n\n**bold** ~~gone~~\n\n| a | b |\n| - | -: |\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n');
  for (const part of ['<h3', '<strong>bold</strong>', '<del>gone</del>', '<table', '☑ ', '☐ ']) {
    expect(html).toContain(part);
  }
  expect(html).not.toContain('<input');
});

test.each(['https://example.com/a', 'http://example.com', 'mailto:ann@example.com'])(
  '%s is a link that tells the other site nothing',
  (address) => {
    const html = htmlOf(`[there](${address})`);
    expect(html).toContain(`href="${address}"`);
    expect(html).toContain('rel="noopener noreferrer nofollow"');
  },
);

test.each([
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](data:text/html,y)',
  '[x](vbscript:y)',
  '[x](/w/other)',
  '[x](//example.com)',
  '[x](#user)',
  '[x](irc://example.com)',
  '<javascript:alert(1)>',
  'a[^1]\n\n[^1]: note',
])('%s leads nowhere', (text) => {
  expect(htmlOf(text)).not.toContain('href');
});

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'a <b onclick="alert(1)">b</b>',
  '<a href="https://example.com">x</a>',
  '<style>body { display: none }</style>',
  '<!-- <p>x</p> -->',
])('%s is no HTML of the page', (text) => {
  expect(htmlOf(text)).not.toMatch(/<(script|img|b|a|style|!--)[\s>-]/);
  expect(htmlOf(text)).not.toContain('&lt;');
});

test.each(['![alt](https://example.com/x.png)', '![alt][x]\n\n[x]: https://example.com/x.png'])(
  '%s loads no image',
  (text) => {
    expect(htmlOf(text)).not.toMatch(/<img|src=|example\.com/);
    expect(htmlOf(text)).toContain('[image: alt]');
  },
);
