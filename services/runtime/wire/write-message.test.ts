import { expect, test } from 'vitest';
import { isMethod, writeRequest } from './write-message.ts';

test('a request is one line, whatever line breaks its params had', () => {
  const params = '{\r\n  "text": "line\\nbreak €"\n}';
  const line = writeRequest(3, 'tools/call', Buffer.from(params)).toString();
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { text: 'line\nbreak €' } });
});

test('a request without params has none', () => {
  expect(writeRequest(4, 'ping', new Uint8Array()).toString()).toBe('{"jsonrpc":"2.0","id":4,"method":"ping"}\n');
});

test('a name that would break out of the message is not a method', () => {
  expect(['tools/call', 'notifications/tools/list_changed', 'x.y-z$'].every(isMethod)).toBe(true);
  expect(['', 'a"b', 'a\\', 'a b', 'a\n', 'é', 'x'.repeat(200)].some(isMethod)).toBe(false);
});
