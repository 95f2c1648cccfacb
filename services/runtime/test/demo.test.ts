import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const folder = path.join(import.meta.dirname, '../../../templates/demo');
const client = new Client({ name: 'test', version: '1' });

beforeAll(() =>
  client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.mjs'], cwd: folder })),
);
afterAll(() => client.close());

const call = (name: string, given = {}) => client.callTool({ name, arguments: given });
const said = (text: string) => ({ content: [{ type: 'text', text }] });

test('lists its tools, its resource and its prompt', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['echo', 'add', 'now', 'slow_report', 'fail']);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['demo://handbook']);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['weekly_report']);
});

test('answers its tools', async () => {
  expect(await call('echo', { text: 'hé' })).toMatchObject(said('You said: hé'));
  expect(await call('add', { a: 2, b: 0.5 })).toMatchObject({ ...said('2.5'), structuredContent: { sum: 2.5 } });
  const { text } = z.object({ text: z.string() }).parse((await call('now')).content[0]);
  expect(Math.abs(Date.parse(text) - Date.now())).toBeLessThan(60_000);
});

test('reports a failure with isError, and refuses unknown tools', async () => {
  expect(await call('fail', { reason: 'Because.' })).toMatchObject({ ...said('Because.'), isError: true });
  expect(await call('add', { a: 'x', b: 1 })).toMatchObject({ isError: true });
  await expect(call('toString')).rejects.toThrow('There is no tool "toString"');
  await expect(client.readResource({ uri: 'demo://other' })).rejects.toThrow('There is no resource');
});

test('reports progress, and ends a report that is cancelled', async () => {
  const heard: number[] = [];
  const report = { name: 'slow_report', arguments: { sections: 3, secondsEach: 0.05 } };
  await client.callTool(report, { onprogress: ({ progress }) => heard.push(progress) });
  expect(heard).toEqual([1, 2, 3]);
  const cancel = new AbortController();
  const long = client.callTool({ name: 'slow_report', arguments: { secondsEach: 10 } }, { signal: cancel.signal });
  cancel.abort();
  await expect(long).rejects.toThrow();
  expect(await call('echo', { text: 'still here' })).toMatchObject(said('You said: still here'));
});

test('returns its resource and its prompt', async () => {
  expect(JSON.stringify(await client.readResource({ uri: 'demo://handbook' }))).toContain('# Handbook');
  const prompt = await client.getPrompt({ name: 'weekly_report', arguments: { week: 'week 7' } });
  expect(JSON.stringify(prompt)).toContain('week 7');
});

test('the file beside it names existing tools and files', async () => {
  const file = parse(readFileSync(path.join(folder, 'platform.yaml'), 'utf8'));
  const { tools } = await client.listTools();
  const offered = tools.map(({ name }) => `demo/${name}`);
  const skills = file.skills as { name: string; instructions: string; tools: string[] }[];
  expect(skills.flatMap((skill) => skill.tools).filter((tool) => !offered.includes(tool))).toEqual([]);
  for (const { instructions } of skills) expect(readFileSync(path.join(folder, instructions), 'utf8')).toMatch(/^# /);
  expect(file.roles[0].skills).toEqual(skills.map(({ name }) => name));
});
