import { expect, test } from 'vitest';
import { filledLaunch, type ShownLaunch, withText } from './filled-launch.ts';

const token = { name: 'TOKEN', title: '', description: '', secret: true, required: true, isSet: true };
const level = { name: 'LEVEL', title: '', description: '', secret: false, required: false, isSet: true };
const unset = { ...token, name: 'constructor', isSet: false };
const launch: ShownLaunch = {
  ...{ command: 'npx', args: ['server'], cwd: '/data', url: null, headers: [], setBy: 'member' },
  env: [
    { name: 'TOKEN', value: null },
    { name: 'LEVEL', value: 'low' },
    { name: 'OTHER', value: null },
  ],
  settings: [token, level, unset],
};

test('a value that is typed is given, and all others are kept without their values', () => {
  const draft = withText(new Map(), launch, token, ' new ');
  expect(filledLaunch(launch, draft)).toEqual({
    ...{ command: 'npx', args: ['server'], cwd: '/data' },
    env: [{ name: 'LEVEL' }, { name: 'OTHER' }, { name: 'TOKEN', value: 'new', secret: true }],
  });
});

test('a value that is removed is left out', () => {
  const names = filledLaunch(launch, new Map([['TOKEN', null]])).env?.map(({ name }) => name);
  expect(names).toEqual(['LEVEL', 'OTHER']);
});

test('an empty text keeps a secret value, and removes one that is shown', () => {
  expect(withText(new Map([['TOKEN', 'a']]), launch, token, '')).toEqual(new Map());
  expect(withText(new Map(), launch, level, ' ')).toEqual(new Map([['LEVEL', null]]));
  expect(withText(new Map([['LEVEL', 'high']]), launch, level, 'low')).toEqual(new Map());
  expect(withText(new Map([['constructor', 'a']]), launch, unset, '')).toEqual(new Map());
});

test('headers stay at their address', () => {
  const http = { ...launch, command: null, args: null, cwd: null, url: 'https://crm.example/mcp', env: [] };
  const shown = { ...http, headers: [{ name: 'x-key', value: null }], settings: [{ ...token, name: 'x-key' }] };
  expect(filledLaunch(shown, new Map([['x-key', 'v']]))).toEqual({
    url: 'https://crm.example/mcp',
    headers: [{ name: 'x-key', value: 'v', secret: true }],
  });
});
