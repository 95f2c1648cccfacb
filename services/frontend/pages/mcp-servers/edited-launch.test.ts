import { expect, test } from 'vitest';
import { editedLaunch, readEdited } from './edited-launch.ts';
import type { ShownLaunch } from './filled-launch.ts';

const declared = { name: 'TOKEN', title: '', description: '', secret: true, required: true, isSet: true };
const launch: ShownLaunch = {
  ...{ command: 'npx', args: ['-y', 'a b', "it's"], cwd: '/data', url: null, headers: [], setBy: 'member' },
  env: [
    { name: 'KEY', value: null },
    { name: 'LEVEL', value: 'low' },
    { name: 'TOKEN', value: null },
  ],
  settings: [declared],
};
const form = editedLaunch(launch);
const asLaunch = (changed: Partial<typeof form>) => readEdited(launch, { ...form, ...changed });
const edit = (name: string, value: string) => form.settings.map((one) => (one.name === name ? { ...one, value } : one));

test('the form shows no secret, and no declared setting', () => {
  expect(form).toEqual({
    line: "npx -y 'a b' 'it'\\''s'",
    cwd: '/data',
    settings: [
      { key: 0, name: 'KEY', value: null, isSecret: true, isStored: true },
      { key: 1, name: 'LEVEL', value: 'low', isSecret: false, isStored: true },
    ],
  });
});

test('an unchanged form keeps everything', () => {
  expect(asLaunch({})).toEqual({
    launch: {
      ...{ command: 'npx', args: ['-y', 'a b', "it's"], cwd: '/data' },
      env: [{ name: 'KEY' }, { name: 'LEVEL' }, { name: 'TOKEN' }],
    },
  });
});

test('a changed value is sent, a removed one is left out, and a new one is secret if it looks so', () => {
  const added = { key: 9, name: ' NEW_TOKEN ', value: 'of-worth', isSecret: false, isStored: false };
  const empty = { ...added, key: 10, name: '' };
  expect(asLaunch({ settings: [...edit('KEY', 'new').slice(0, 1), added, empty], cwd: ' ' })).toMatchObject({
    launch: {
      cwd: null,
      env: [
        { name: 'KEY', value: 'new', secret: true },
        { name: 'NEW_TOKEN', value: 'of-worth', secret: true },
        { name: 'TOKEN' },
      ],
    },
  });
  expect(asLaunch({ settings: edit('LEVEL', 'high') })).toMatchObject({
    launch: { env: [{ name: 'KEY' }, { name: 'LEVEL', value: 'high', secret: false }, { name: 'TOKEN' }] },
  });
});

test('an address takes no variable of the command with it', () => {
  const added = { key: 9, name: 'X-Team', value: 'blue', isSecret: false, isStored: false };
  expect(asLaunch({ line: 'https://crm.example/mcp', settings: [...form.settings, added] })).toEqual({
    launch: { url: 'https://crm.example/mcp', headers: [{ name: 'X-Team', value: 'blue', secret: false }] },
  });
});

test.each(['', '"open', '{"mcpServers":{"a":{"command":"x"}}}', 'https://['])('%j is refused with words', (line) => {
  expect(asLaunch({ line })).toEqual({ problem: expect.stringMatching(/\.$/) });
});
