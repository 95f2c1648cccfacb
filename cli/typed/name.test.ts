import { describe, expect, test } from 'vitest';
import { commandName, withName } from './name.ts';

const script = 'node_modules/.bin/svc';
const ids = ['up', 'status', 'keys:create', 'server:add'];

test('only a command that npm runs is called npx svc', () => {
  expect(commandName({ env: { npm_command: 'exec' }, script })).toBe('npx svc');
  expect(commandName({ env: { npm_command: 'run-script' }, script })).toBe('svc');
  expect(commandName({ env: {}, script })).toBe('svc');
});

test('a typed package name is kept, because npx finds it in any folder', () => {
  expect(commandName({ env: { npm_command: 'exec' }, script: `${script}-platform` })).toBe('npx svc-platform');
  expect(withName('npx svc-platform', ids)('Start it: svc up')).toBe('Start it: npx svc-platform up');
});

describe('with npx', () => {
  const told = withName('npx svc', ids);
  test.each([
    ['Start it: svc up', 'Start it: npx svc up'],
    ['svc status tells which one runs; svc up ends it.', 'npx svc status tells which one runs; npx svc up ends it.'],
    ['SVC_API_KEY=… svc keys create', 'SVC_API_KEY=… npx svc keys create'],
    ['See svc --help.', 'See npx svc --help.'],
    ['"svc server add x"', '"npx svc server add x"'],
  ])('%s', (text, expected) => expect(told(text)).toBe(expected));

  test.each([
    'npx svc up',
    'npx --no svc up',
    'svc needs Node 24',
    './svc up',
    '/opt/svc status',
    'my-svc up',
    'svc upwards',
  ])('nothing changes in: %s', (text) => expect(told(text)).toBe(text));
});

test('no text changes without npx', () => expect(withName('svc', ids)('Start it: svc up')).toBe('Start it: svc up'));
