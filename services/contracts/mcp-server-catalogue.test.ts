import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findDeclaredProblems } from './declared-settings.ts';
import { checkLaunch } from './launch.ts';
import { emptyBlanks, launchOfEntry, mcpServerCatalogue } from './mcp-server-catalogue.ts';
import { parseName } from './names.ts';
import { findSecretWord } from './secret-words.ts';

const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const entryOf = (name: string) => {
  const entry = mcpServerCatalogue.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`the catalogue has no ${name}`);
  return entry;
};

test('names and titles are unique and in order', () => {
  const titles = mcpServerCatalogue.map(({ title }) => title);
  expect(titles).toEqual([...titles].sort());
  expect(new Set(mcpServerCatalogue.map(({ name }) => name)).size).toBe(titles.length);
});

test.each(mcpServerCatalogue)('$name has a launch that the platform takes', (entry) => {
  const { name, about, homepage, launch, blanks, settings } = entry;
  expect(parseName('mcpServer', name)).toBe(name);
  expect(about).toMatch(/^[A-Z].*\.$/);
  expect(new URL(homepage).protocol).toBe('https:');
  const filled = new Map([...blanks, ...settings].map((one) => [one.name, '/a value']));
  expect(emptyBlanks(entry, filled)).toEqual([]);
  const made = launchOfEntry(entry, filled);
  expect(checkLaunch(made)).toMatchObject({ ok: true });
  expect(findDeclaredProblems(launch.kind === 'url' ? 'headers' : 'env', settings)).toEqual([]);
  if (launch.kind === 'url') {
    expect(new URL(launch.url).protocol).toBe('https:');
    return;
  }
  expect(findSecretWord([launch.command, ...launch.args])).toBe(null);
  expect(made.args?.join(' ')).not.toContain('{');
  expect(blanks.map((blank) => `{${blank.name}}`)).toEqual(launch.args.filter((word) => word.startsWith('{')));
});

test('the packages are those of the reference MCP servers', () => {
  const packages = mcpServerCatalogue.flatMap(({ launch }) =>
    launch.kind === 'command' ? launch.args.filter((word) => !/^[-{]/.test(word)) : [],
  );
  for (const name of packages) expect(name).toMatch(/^(@modelcontextprotocol\/server-[a-z-]+|mcp-server-[a-z]+)$/);
  const tested = packages.filter((name) => Object.hasOwn(devDependencies, name));
  expect(tested.map((name) => name.replace(/.*server-/, ''))).toEqual(['everything', 'filesystem', 'memory']);
});

test('a required setting without a value is declared, and may be set later', () => {
  const { headers, settings } = launchOfEntry(entryOf('github'), new Map([['Authorization', '  ']]));
  expect(headers).toEqual([]);
  expect(settings).toMatchObject([{ name: 'Authorization', secret: true, required: true }]);
});

test('an empty blank is named', () => {
  const names = emptyBlanks(entryOf('files'), new Map([['folder', ' ']])).map(({ name }) => name);
  expect(names).toEqual(['folder']);
});

test('a value is an argument of its own, whatever is in it', () => {
  const { args } = launchOfEntry(entryOf('files'), new Map([['folder', '/a b; {folder} $1']]));
  expect(args?.at(-1)).toBe('/a b; {folder} $1');
});
