import { expect, test } from 'vitest';
import { Platform, script } from './platform.ts';

test('a tool of an assigned MCP server is called', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo', ['one']) });
  await platform.startRuntime();
  const report = await platform.connected('one');
  expect(report.health).toBe('green');
  expect(report.tools.map(({ name }) => name)).toEqual(['echo', 'environment', 'params', 'large']);
  expect(await platform.say('one', { text: 'hello' })).toBe('one: hello');
});
