import { expect, test } from 'vitest';
import { completeLaunch } from './complete-launch.ts';

const none = { command: null, args: null, cwd: null, url: null, env: [], headers: [], settings: [] };
const rest = { fingerprint: 'f', setBy: 'operator' as const };
const child = { ...none, ...rest, command: 'npx', args: ['-y'], cwd: '/docs', env: [{ name: 'TOKEN', value: null }] };
const http = { ...none, ...rest, url: 'https://crm.example/mcp', headers: [{ name: 'Authorization', value: null }] };

const url = { url: http.url, headers: [], settings: [] };

test('a new MCP server gets empty fields', () => {
  const command = { command: 'npx', args: [], cwd: null, env: [], settings: [] };
  expect(completeLaunch({ command: 'npx' }, null)).toEqual(command);
  expect(completeLaunch({ url: http.url }, null)).toEqual(url);
  expect(completeLaunch({}, null)).toBeNull();
});

test('a field that is not named stays, and a setting keeps its value', () => {
  const kept = { command: 'npx', args: ['-y'], cwd: '/docs', env: [{ name: 'TOKEN', value: null }], settings: [] };
  expect(completeLaunch({}, child)).toEqual(kept);
  expect(completeLaunch({ command: 'uvx', args: [] }, child)).toEqual({ ...kept, command: 'uvx', args: [] });
  expect(completeLaunch({ env: [] }, child)).toEqual({ ...kept, env: [] });
  expect(completeLaunch({}, http)).toEqual({ ...url, headers: [{ name: 'Authorization', value: null }] });
  expect(completeLaunch({ headers: [] }, http)).toEqual(url);
});

test('nothing of a command stays with a URL, and nothing of a URL with a command', () => {
  const declared = { settings: [{ name: 'TOKEN', title: '', description: '', secret: true, required: true }] };
  expect(completeLaunch({ url: http.url }, { ...child, ...declared })).toEqual(url);
  expect(completeLaunch({ command: 'npx' }, { ...http, ...declared })).toMatchObject({ env: [], settings: [] });
});

test('the value of a declared setting stays if the file does not name it', () => {
  const settings = [{ name: 'TOKEN', title: 'Token', description: '', secret: true, required: true }];
  const log = { name: 'LOG', value: '1' };
  const kept = { name: 'TOKEN', value: null };
  const filled = { ...child, env: [{ name: 'OTHER', value: null }, kept], settings };
  expect(completeLaunch({ env: [log] }, filled)).toMatchObject({ env: [log, kept], settings });
  const own = [{ name: 'TOKEN', value: 'x' }];
  expect(completeLaunch({ env: own }, filled)).toMatchObject({ env: own });
  expect(completeLaunch({ env: [log], settings: [] }, filled)).toMatchObject({ env: [log], settings: [] });
  expect(completeLaunch({ env: [log], settings: [{ name: 'TOKEN' }] }, child)).toMatchObject({ env: [log, kept] });
  const header = { url: http.url, headers: [], settings: [{ name: 'authorization' }] };
  expect(completeLaunch(header, http)).toMatchObject({ headers: [{ name: 'Authorization', value: null }] });
});
