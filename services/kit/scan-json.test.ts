import { isUtf8 } from 'node:buffer';
import { expect, test } from 'vitest';
import { isJson, jsonDepthMax, notJson, scanJson, tooDeep } from './scan-json.ts';
import { Fuzz } from './test/fuzz.ts';

const parses = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const values = [
  ...['null', 'true', 'false', '0', '-0', '1.5', '-1e9', '1E+2', '0.0e-1', '""', '[]', '{}', ' [ ] ', '\t{ }\r\n'],
  ...['"\\u00e9 é \\" \\\\"', '[1,2,[3,{"a":[]}]]', '{"a":{"b":"}"},"a":[null]}', '{"":0}', '"\\ud800"', '"\u007f"'],
  ...[`"${'x'.repeat(100)}"`, `"${'x'.repeat(99)}\\n${'ü'.repeat(99)}"`, `["${'😀'.repeat(50)}","${'y'.repeat(33)}"]`],
];
const broken = [
  ...['', ' ', 'nul', 'nulll', 'True', '01', '-', '.5', '1.', '1e', '1e+', '+1', '0x1', 'NaN', '"', '"\\', '"\\x"'],
  ...[
    '"\\u12g4"',
    '"\n"',
    '"\0"',
    `"${'x'.repeat(80)}\n${'x'.repeat(80)}"`,
    `"${'x'.repeat(80)}`,
    '[',
    ']',
    '[1,]',
    '[,1]',
  ],
  ...[
    '[1 2]',
    '{',
    '}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a" 1}',
    "{'a':1}",
    '[}',
    '{]',
    '{"a":1]',
    '1 2',
    '[]]',
  ],
  ...['undefined', 'not json at all', '\ufeff{}', '/**/1', '[1]//', '\u00a01'],
];

test.each([...values, ...broken])('%j is JSON exactly when JSON.parse accepts it', (text) => {
  expect(isJson(Buffer.from(text))).toBe(parses(text));
  expect(parses(text)).toBe(values.includes(text));
});

test('a string is read exactly to its end, wherever its bytes lie', () => {
  for (let length = 0; length < 70; length++) {
    for (let offset = 0; offset < 5; offset++) {
      for (const inside of ['', '\u0001', '\\', '"']) {
        const text = `"${'x'.repeat(length)}${inside}${'é'.repeat(5)}" `;
        const bytes = Buffer.concat([Buffer.alloc(offset, '"'), Buffer.from(text)]);
        const expected = inside === '"' ? length + 2 : inside === '' ? bytes.length - offset - 1 : notJson;
        const end = scanJson(bytes, offset);
        expect(end < 0 ? end : end - offset).toBe(expected);
      }
    }
  }
});

test('a value ends where its text does', () => {
  const text = 'result: {"a":[1,"}"]} , 2';
  expect(scanJson(Buffer.from(text), 8)).toBe(text.indexOf(' , 2'));
});

test('levels are counted and bounded', () => {
  const nested = (levels: number) => Buffer.from(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);
  expect(isJson(nested(jsonDepthMax))).toBe(true);
  expect(scanJson(nested(jsonDepthMax + 2))).toBe(tooDeep);
  expect(scanJson(Buffer.alloc(1_000_000, '['))).toBe(tooDeep);
});

test('agrees with JSON.parse on random texts', () => {
  const fuzz = new Fuzz();
  const seeds = values.map((text) => Buffer.from(`{"result":${text},"list":[${text},${text}]}`));
  for (let round = 0; round < 20_000; round++) {
    const bytes = fuzz.mutate(fuzz.of(seeds));
    if (!isUtf8(bytes)) continue;
    const text = bytes.toString('utf8');
    if (isJson(bytes) !== parses(text)) expect.fail(`SVC_FUZZ_SEED=${fuzz.seed}: ${JSON.stringify(text)}`);
  }
});
