import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret.ts';

const value = 'hunter2-hunter2';
const secret = new Secret(value);

function printed(print: (console: Console) => void): string {
  let text = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  print(new Console(stdout));
  return text;
}

it('is revealed on purpose', () => {
  expect(secret.reveal()).toBe(value);
});

it.each<[string, () => string]>([
  ['String()', () => String(secret)],
  ['a template', () => `a ${secret} b`],
  ['concatenation', () => `a ${secret.toString()}`],
  ['JSON', () => JSON.stringify({ deep: [{ secret }] })],
  ['util.inspect', () => inspect(secret)],
  [
    'util.inspect of an object around it',
    () => inspect({ deep: { deeper: [secret] } }, { depth: 9, showHidden: true }),
  ],
  ['util.inspect of a map', () => inspect(new Map([['key', secret]]))],
  ['util.format', () => format('%s %o %O %j', secret, secret, secret, secret)],
  ['console.log', () => printed((console) => console.log(secret, [secret]))],
  ['console.table', () => printed((console) => console.table([{ secret }]))],
  ['an error that carries it', () => inspect(Object.assign(new Error(`no ${secret}`), { secret }))],
  ['Array.join', () => [secret, secret].join()],
])('prints [secret] in %s', (_, print) => {
  expect(print()).toContain('[secret]');
  expect(print()).not.toContain(value);
});

it('prints no trace of the secret even without its text', () => {
  const text = printed((console) => console.dir({ secret }, { showHidden: true, depth: 9 }));
  expect(text).toContain('Secret');
  expect(text).not.toContain(value);
});

it('has no property with its text', () => {
  expect(Object.keys(secret)).toEqual([]);
  expect(JSON.stringify(Object.getOwnPropertyNames(secret))).toBe('[]');
  expect(JSON.stringify({ ...secret })).toBe('{}');
  expect(inspect(structuredClone(secret))).not.toContain(value);
});
