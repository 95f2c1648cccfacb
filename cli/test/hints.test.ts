import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { prose, sources, textsOf } from './hints/suggested.ts';
import { svcFile } from './run-svc.ts';

/** Every command that the platform suggests must exist. */
const repository = join(svcFile, '../..');

interface Command {
  readonly aliases: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}
const manifest: { commands: Record<string, Command> } = JSON.parse(
  readFileSync(join(repository, 'oclif.manifest.json'), 'utf8'),
);
const commands = new Map(
  Object.entries(manifest.commands).flatMap(([id, command]) => [id, ...command.aliases].map((name) => [name, command])),
);

/** Every suggested command of a text that does not exist, or lacks these flags. */
function missingIn(text: string): string[] {
  // The values of placeholders, and the name of the program in examples.
  const plain = text.replaceAll('<%= config.bin %>', 'svc');
  return [...plain.matchAll(/(?<![\w./-])svc ([a-z]+)(?: ([a-z]+))?([^\n`"',;]*)/g)].flatMap(
    ([typed, first = '', second = '', rest = '']) => {
      const command = commands.get(`${first}:${second}`) ?? commands.get(first);
      if (command === undefined) return prose.has(first) ? [] : [typed.trim()];
      const own = rest.split(' -- ')[0]?.split(/: | and /)[0] ?? '';
      return [...own.matchAll(/(?<=\s)--([a-z][a-z-]*)/g)].flatMap(([flag, name = '']) =>
        name in command.flags || name === 'help' ? [] : [`svc ${first} ${second}: ${flag}`],
      );
    },
  );
}

test('every command in a message, an example or a template exists, with its flags', () => {
  expect(sources.length).toBeGreaterThan(200);
  const missing = sources.flatMap((path) =>
    textsOf(path).flatMap((text) => missingIn(text).map((one) => `${path}: ${one}`)),
  );
  expect(missing).toEqual([]);
});

describe('a hint is noticed that names', () => {
  test.each([
    ['no command', 'Set the key that `svc token issue NAME` printed.', ['svc token issue NAME']],
    ['no command of a topic', 'List them: svc keys forge', ['svc keys forge']],
    ['a topic alone', 'See: svc keys.', ['svc keys.']],
    ['a flag that does not exist', 'Try: svc keys create --nmae x', ['svc keys create: --nmae']],
    ['two commands, of which one exists', 'See it: svc status, or svc nurse', ['svc nurse']],
  ])('%s', (_, text, told) => expect(missingIn(text)).toEqual(told));

  test.each([
    'Add one: svc server add NAME -- COMMAND --flag',
    'svc needs Node 24 or newer',
    'See it: svc server show …. Remove it: svc server remove …',
    'svc key list',
    'svc up --help',
  ])('and no other: %s', (text) => expect(missingIn(text)).toEqual([]));
});
