import { expect, test } from 'vitest';
import { memberTexts } from '../../kit/json-members.ts';
import { membersOfInnerCall, paramsOfCall } from './call-params.ts';

const forward = (text: string, progressToken: string | null = null) =>
  paramsOfCall(memberTexts(text) ?? new Map(), { nameText: '"echo"', progressToken });

test('only the name is changed; arguments keep their text', () => {
  const text = '{"name":"FILES_echo","arguments":{"n":12345678901234567890,"x":1.0 },"_meta":{"a":1}}';
  expect(forward(text)).toBe('{"name":"echo","arguments":{"n":12345678901234567890,"x":1.0 },"_meta":{"a":1}}');
});

test('a second name goes nowhere, however it is written', () => {
  expect(forward('{"name":"a","arguments":{},"n\\u0061me":"b"}')).toBe('{"name":"echo","arguments":{}}');
});

test('a request for a task is refused, because tasks are not offered', () => {
  expect(forward('{"name":"a","task":{"ttl":1}}')).toBe('{"name":"echo"}');
});

test('the progress token is replaced and the rest of _meta stays', () => {
  expect(forward('{"name":"a","_meta":{"progressToken":7,"b":[1.0]}}', 'p-1')).toBe(
    '{"name":"echo","_meta":{"progressToken":"p-1","b":[1.0]}}',
  );
});

test('the inner call is the arguments of the outer one, with its _meta', () => {
  const outer = memberTexts(
    '{"name":"call_tool","arguments":{"name":"a","arguments":{"n":1.0},"other":1},"_meta":{"c":2}}',
  );
  expect([...membersOfInnerCall(outer ?? new Map())]).toEqual([
    ['arguments', '{"n":1.0}'],
    ['_meta', '{"c":2}'],
  ]);
});
