import { expect, test } from 'vitest';
import { completeLaunch } from './complete-launch.ts';

const none = { command: null, args: null, cwd: null, url: null, env: [], headers: [] };
const rest = { fingerprint: 'f', setBy: 'operator' as const };
const child = { ...none, ...rest, command: 'npx', args: ['-y'], cwd: '/docs', env: [{ name: 'TOKEN', value: null }] };
const http = { ...none, ...rest, url: 'https://crm.example/mcp', headers: [{ name: 'Authorization', value: null }] };

test('a new MCP server gets empty fields', () => {
  expect(completeLaunch({ command: 'npx' }, null)).toEqual({ command: 'npx', args: [], cwd: null, env: [] });
  expect(completeLaunch({ url: http.url }, null)).toEqual({ url: http.url, headers: [] });
  expect(completeLaunch({}, null)).toBeNull();
});

test('a field that is not named stays, and a setting keeps its value', () => {
  const kept = { command: 'npx', args: ['-y'], cwd: '/docs', env: [{ name: 'TOKEN', value: null }] };
  expect(completeLaunch({}, child)).toEqual(kept);
  expect(completeLaunch({ command: 'uvx', args: [] }, child)).toEqual({ ...kept, command: 'uvx', args: [] });
  expect(completeLaunch({ env: [] }, child)).toEqual({ ...kept, env: [] });
  expect(completeLaunch({}, http)).toEqual({ url: http.url, headers: [{ name: 'Authorization', value: null }] });
  expect(completeLaunch({ headers: [] }, http)).toEqual({ url: http.url, headers: [] });
});

test('nothing of a command stays with a URL, and nothing of a URL with a command', () => {
  expect(completeLaunch({ url: http.url }, child)).toEqual({ url: http.url, headers: [] });
  expect(completeLaunch({ command: 'npx' }, http)).toEqual({ command: 'npx', args: [], cwd: null, env: [] });
});
