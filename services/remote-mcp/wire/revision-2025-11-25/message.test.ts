import { describe, expect, test } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import { agentMemory } from '../../http/agent-memory.ts';
import { readMessage } from './message.ts';

const budget = agentMemory({ total: 20_000_000, shares: { key: 2_000_000, workspace: 2_000_000 } });
const owner = { key: newId('key'), workspace: newId('workspace') };
const read = (text: string) => readMessage(Buffer.from(text), budget.hold(owner, 0));

test('a request keeps its id and its parameters byte by byte', () => {
  const text = '{"jsonrpc":"2.0","id": 9007199254740993 ,"method":"tools/call","params": {"n": 1.0} }';
  expect(read(text)).toEqual({
    kind: 'request',
    id: 9007199254740992,
    idText: '9007199254740993',
    method: 'tools/call',
    params: { n: 1 },
    paramsText: '{"n": 1.0}',
  });
  expect(read('{"jsonrpc":"2.0","id":"1","method":"ping"}')).toMatchObject({ id: '1', idText: '"1"', paramsText: '' });
});

test('the last one of members with equal names counts', () => {
  const text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","params":{"x":1},"params":{"y":2}}';
  expect(read(text)).toMatchObject({ id: 2, idText: '2', method: 'b', params: { y: 2 }, paramsText: '{"y":2}' });
});

test('notifications, responses and requests are distinguished', () => {
  expect(read('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toEqual({
    kind: 'notification',
    method: 'notifications/initialized',
    params: {},
  });
  expect(read('{"jsonrpc":"2.0","id":1,"result":{}}')).toEqual({ kind: 'response' });
  expect(read('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}')).toEqual({ kind: 'response' });
});

describe('refused', () => {
  const rows: readonly (readonly [text: string, code: number, idText: string, message: RegExp])[] = [
    ['', -32700, 'null', /not valid JSON/],
    ['{', -32700, 'null', /not valid JSON/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping",}', -32700, 'null', /not valid JSON/],
    ['\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700, 'null', /not valid JSON/],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, 'null', /batch/],
    ['[]', -32600, 'null', /batch/],
    ['"ping"', -32600, 'null', /must be an object/],
    ['null', -32600, 'null', /must be an object/],
    [
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
      -32600,
      'null',
      /deep/,
    ],
    [`[${'{},'.repeat(1_000_000)}`, -32600, 'null', /batch/],
    [`{"a":[${'{},'.repeat(40_000)}`, -32700, 'null', /not valid JSON/],
    [`{"a":[${'{},'.repeat(1_000_000)}1]}`, -32600, 'null', /more than 100000 values/],
    ['{"id":1,"method":"ping"}', -32600, '1', /"jsonrpc"/],
    ['{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600, '1', /"jsonrpc"/],
    ['{"jsonrpc":"2.0","id":1}', -32600, '1', /"method"/],
    ['{"jsonrpc":"2.0","id":"a","method":7}', -32600, '"a"', /"method"/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600, '1', /"params"/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', -32600, '1', /"params"/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, 'null', /"id"/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, 'null', /"id"/],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, 'null', /"id"/],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(600)}","method":"ping"}`, -32600, 'null', /"id"/],
  ];
  test.each(rows)('%.100s', (text, code, idText, message) => {
    expect(read(text)).toMatchObject({ kind: 'invalid', code, idText, message: expect.stringMatching(message) });
  });

  test('bytes that are not UTF-8', () => {
    const held = budget.hold(owner, 0);
    expect(readMessage(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), held)).toMatchObject({
      code: -32700,
      message: expect.stringMatching(/UTF-8/),
    });
  });
});

test('the memory for parsing is reserved before it is used', () => {
  const text = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${'{},'.repeat(20_000)}1]}}`;
  expect(() => read(text)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
});

test('a name with a meaning in JavaScript has none here', () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"name":"x"},"constructor":1}}';
  const message = read(text);
  expect(message).toMatchObject({ kind: 'request', paramsText: '{"__proto__":{"name":"x"},"constructor":1}' });
  expect(message.kind === 'request' && message.params.name).toBe(undefined);
});
