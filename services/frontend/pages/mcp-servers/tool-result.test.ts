import { expect, test } from 'vitest';
import { readToolResult, textMax } from './tool-result.ts';

const partsOf = (...content: unknown[]) => readToolResult({ content }).parts;

test('texts, images and structured content are shown', () => {
  const content = [
    { type: 'text', text: '<b>hello</b>' },
    { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  ];
  expect(readToolResult({ content, structuredContent: { a: 1 }, isError: true })).toEqual({
    isError: true,
    parts: [
      { kind: 'text', text: '<b>hello</b>' },
      { kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
    ],
    structured: '{\n  "a": 1\n}',
  });
});

test.each([
  ['a drawing, which may hold a script', { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zz4=' }],
  ['a type that ends the address', { type: 'image', mimeType: 'image/png;x,', data: 'AAAA' }],
  ['data that are not base64', { type: 'image', mimeType: 'image/png', data: '"><script>' }],
  ['sound', { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }],
  ['a link', { type: 'resource_link', uri: 'javascript:alert(1)' }],
  ['a file', { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } }],
])('%s is named in words', (_what, part) => {
  expect(partsOf(part)).toEqual([{ kind: 'note', text: expect.any(String) }]);
});

test('the text of a resource is shown', () => {
  expect(partsOf({ type: 'resource', resource: { uri: 'file:///a', text: 'x' } })).toEqual([
    { kind: 'text', text: 'x' },
  ]);
});

test.each([null, 'text', 7, {}, { content: 'x' }, undefined])('an unknown form is shown as JSON: %j', (result) => {
  expect(readToolResult(result)).toMatchObject({ isError: false, parts: [{ kind: 'text' }] });
});

test('a part of an unknown form is shown as JSON', () => {
  expect(partsOf({ type: 'image' }, null)).toEqual([
    { kind: 'text', text: '{\n  "type": "image"\n}' },
    { kind: 'text', text: 'null' },
  ]);
});

test('a result that is too long is cut, and says so', () => {
  const [part] = partsOf({ type: 'text', text: 'x'.repeat(textMax + 5) });
  expect(part).toMatchObject({ text: expect.stringMatching(/… 5 more characters$/) });
  const parts = partsOf(...Array.from({ length: 103 }, () => ({ type: 'text', text: 'x' })));
  expect(parts).toHaveLength(101);
  expect(parts.at(-1)).toEqual({ kind: 'note', text: '3 more parts are not shown.' });
});
