import { expect, test } from 'vitest';
import { entriesNamed, type PaletteGroup } from './palette-entry.ts';

const entry = (title: string, detail?: string) => ({
  ...({ id: title, title, icon: 'plus', run: () => undefined } as const),
  ...(detail !== undefined && { detail }),
});
const groups: readonly PaletteGroup[] = [
  { title: 'Places', entries: [entry('MCP servers'), entry('API keys')] },
  { title: 'Members', entries: [entry('Zoë Müller', 'zoe@example.com')] },
];
const namesOf = (text: string) =>
  entriesNamed(groups, text).flatMap(({ entries }) => entries.map(({ title }) => title));

test.each([
  ['', ['MCP servers', 'API keys', 'Zoë Müller']],
  ['serv mc', ['MCP servers']],
  ['KEYS', ['API keys']],
  ['muller', ['Zoë Müller']],
  ['zoe@example', ['Zoë Müller']],
  ['eys', []],
  ['mcp keys', []],
])('"%s" finds %j', (text, names) => {
  expect(namesOf(text)).toEqual(names);
});

test('a group without entries is left out', () => {
  expect(entriesNamed(groups, 'zoe').map(({ title }) => title)).toEqual(['Members']);
});
