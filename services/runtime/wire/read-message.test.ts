import { describe, expect, test } from 'vitest';
import { jsonDepthMax } from '../../kit/scan-json.ts';
import { Fuzz } from '../../kit/test/fuzz.ts';
import { readMessage, responseIdFromEnds } from './read-message.ts';

function read(text: string) {
  return (
    readMessage(Buffer.from(text))?.map((message) =>
      'payload' in message ? { ...message, payload: Buffer.from(message.payload).toString() } : message,
    ) ?? null
  );
}

describe('a response gives its value exactly as it was written', () => {
  const value = '{"big":12345678901234567890,"float":1.0,"text":"\\u00e9 é \\"","id":3,"result":{"id":4}}';
  const result = [{ kind: 'result', id: 7, payload: value }];
  test.each([
    ['in the usual form', `{"jsonrpc":"2.0","id":7,"result":${value}}`],
    ['value first', `{"result":${value},"jsonrpc":"2.0","id":7}`],
    ['value in the middle', `{"jsonrpc":"2.0","result":${value},"id":7}`],
    ['id first', `{"id":7,"jsonrpc":"2.0","result":${value}}`],
    ['with white space', ` { "jsonrpc" : "2.0" , "id" : 7 , "result" : ${value} } \r`],
  ])('%s', (_name, text) => {
    expect(read(text)).toEqual(result);
  });

  test.each(['null', '"}"', '[]', '0', '{"a":"}"}', '"\\"id\\":9}"'])('value %s', (short) => {
    expect(read(`{"result":${short},"jsonrpc":"2.0","id":7}`)).toEqual([{ kind: 'result', id: 7, payload: short }]);
  });
});

test('an unusual order of members or an extra member is understood too', () => {
  const one = [{ kind: 'result', id: 7, payload: '{"a":1}' }];
  expect(read('{"jsonrpc":"2.0","id":7,"_meta":{},"result":{"a":1}}')).toEqual(one);
  expect(read('{"jsonrpc":"2.0","id":7,"result":{"a":1},"x":true}')).toEqual(one);
});

test('a value that only looks complete cannot carry members of the message into the answer', () => {
  const twice = read('{"result":{"a":1},"id":8,"result":{"b":2},"jsonrpc":"2.0","id":7}');
  expect(twice).toEqual([{ kind: 'result', id: 7, payload: '{"b":2}' }]);
});

test('errors, notifications and requests are distinguished', () => {
  expect(read('{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}')).toEqual([
    { kind: 'error', id: 7, payload: '{"code":-1,"message":"no"}' },
  ]);
  const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}';
  expect(read(progress)).toEqual([
    { kind: 'notification', method: 'notifications/progress', params: { progressToken: 1 }, payload: progress },
  ]);
  expect(read('{"jsonrpc":"2.0","id":"a","method":"ping"}')).toEqual([{ kind: 'request', id: 'a', method: 'ping' }]);
});

test('a batch is its messages', () => {
  expect(read('[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]')).toEqual([
    { kind: 'result', id: 1, payload: '{}' },
    { kind: 'notification', method: 'n', params: undefined, payload: '{"jsonrpc":"2.0","method":"n"}' },
  ]);
});

test.each([
  'hello',
  '',
  'null',
  '[]',
  '{}',
  '{"jsonrpc":"2.0","id":7}',
  '{"jsonrpc":"2.0","id":7,"method":"x","params":{}',
  '{"jsonrpc":"2.0","id":7,"error":"text"}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":1}}',
  '{"jsonrpc":"2.0","id":{},"method":"x"}',
])('%s is not a message', (text) => {
  expect(read(text)).toBeNull();
});

test.each([
  '{"jsonrpc":"2.0","id":7,"result":{}',
  '{"jsonrpc":"2.0","id":7,"result":{}}}',
  '{"jsonrpc":"2.0","id":7,"result":undefined}',
  '{"jsonrpc":"2.0","id":7,"result":not json at all}',
  '{"jsonrpc":"2.0","id":7,"error":{"code":01}}',
  '{"result":{"a":"\n"},"jsonrpc":"2.0","id":7}',
  '{"jsonrpc":"2.0","id":7,"result":{"a":1},"id":8]}',
])('%s is a response that cannot be used', (text) => {
  expect(read(text)).toEqual([{ kind: 'unusable', id: 7, why: 'not_json' }]);
});

describe('a value nested too deeply cannot be used', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  test.each([
    ['in a result', `{"jsonrpc":"2.0","id":7,"result":${nested(1_000_000)}}`],
    ['one level too deep', `{"jsonrpc":"2.0","id":7,"result":${nested(jsonDepthMax + 1)}}`],
    ['beside another member', `{"jsonrpc":"2.0","id":7,"result":${nested(1_000_000)},"x":1}`],
  ])('%s', (_name, text) => {
    expect(read(text)).toEqual([{ kind: 'unusable', id: 7, why: 'too_deep' }]);
  });

  test('in a notification, or before the id', () => {
    expect(read(`{"jsonrpc":"2.0","method":"x","params":${nested(1_000_000)}}`)).toBeNull();
    expect(read(`{"x":${nested(1_000_000)},"jsonrpc":"2.0","result":1}`)).toBeNull();
  });

  test('at the maximum depth it is passed on', () => {
    const payload = nested(jsonDepthMax);
    expect(read(`{"jsonrpc":"2.0","id":7,"result":${payload}}`)).toEqual([{ kind: 'result', id: 7, payload }]);
  });
});

test('bytes that are not UTF-8 are not passed on', () => {
  const line = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":7,"result":"'), Buffer.of(0xff), Buffer.from('"}')]);
  const [message] = readMessage(line) ?? [];
  expect(message?.kind === 'result' && Buffer.from(message.payload).toString()).toBe('"\ufffd"');
});

test('the id of a response is found at either of its ends', () => {
  const ends = (head: string, tail: string) => responseIdFromEnds(Buffer.from(head), Buffer.from(tail));
  expect(ends('{"jsonrpc":"2.0","id":12,"result":{"text":"xx', 'xx","id":99}}')).toBe(12);
  expect(ends('{"result":{"text":"xx', 'xx"},"jsonrpc":"2.0","id":12}')).toBe(12);
  expect(ends('{"method":"x","params":"xx', 'xx","id":12}')).toBeNull();
  expect(ends('xxxx', 'xxxx')).toBeNull();
});

test('for any output of an MCP server, only JSON is passed on', () => {
  const fuzz = new Fuzz();
  const seeds = [
    '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ü \\n \\u00e9"}],"n":1.0}}',
    '{"result":{"a":[1,2,{"b":null}]},"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}',
    '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]',
  ].map((text) => Buffer.from(text));
  for (let round = 0; round < 10_000; round++) {
    const line = fuzz.mutate(fuzz.of(seeds));
    try {
      for (const message of readMessage(line) ?? []) {
        if (!('payload' in message)) continue;
        JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message.payload));
      }
    } catch (thrown) {
      expect.fail(`SVC_FUZZ_SEED=${fuzz.seed}: ${thrown} over ${JSON.stringify(line.toString())}`);
    }
  }
});
