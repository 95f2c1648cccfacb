import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { runSvc, svcFile } from './run-svc.ts';

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

/** Words that follow the program's name in sentences about it. */
const prose: ReadonlySet<string> = new Set(['needs', 'runs', 'as']);

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

/** The texts of a source file without its comments; `…` replaces inserted values. */
function textsOf(path: string): string[] {
  const source = readFileSync(join(repository, path), 'utf8');
  if (!path.endsWith('.ts')) return [source];
  const texts: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'Literal' && 'value' in node && typeof node.value === 'string')
      texts.push(node.value);
    if ('type' in node && node.type === 'TemplateLiteral' && 'quasis' in node && Array.isArray(node.quasis))
      texts.push(node.quasis.map((quasi) => quasi.value.cooked).join('…'));
    for (const below of Object.values(node)) visit(below);
  };
  visit(parseAst(source, { lang: 'ts' }));
  return texts;
}

const sources = globSync(
  ['{services,stack,cli}/**/*.ts', 'cli/*.cjs', 'templates/**/*.{yaml,md}', 'docs/*.md', '**/README.md'],
  {
    cwd: repository,
    exclude: ['**/node_modules/**', 'dist/**', '**/test/**', '**/*.test.ts'],
  },
).sort();

test('every command in a message, an example or a template exists, with its flags', () => {
  expect(sources.length).toBeGreaterThan(200);
  const missing = sources.flatMap((path) =>
    textsOf(path).flatMap((text) => missingIn(text).map((one) => `${path}: ${one}`)),
  );
  expect(missing).toEqual([]);
});

/** Verbs of sentences in which a suggested command is the subject. */
const verbs = 'does|hands|in|lists|makes|names|needs|pulls|removes|replaces|returns|shows|starts|tells|told|writes';

/** The suggested commands of a text, from `svc` to the end of the clause, with a value for each placeholder. */
function suggestedIn(text: string): string[] {
  // Examples are typed by examples.test.ts.
  if (text.includes('<%= config.bin %>')) return [];
  const clauses = text.matchAll(/(?:^|: |\()svc ([a-z][^\n]*?)(?=$|\n|\.(?: |$)|[,;:] | \(|\)| and | or | && )/gm);
  return [...clauses].flatMap(([, clause = '']) => {
    const command = clause.replace(new RegExp(` (?:${verbs})\\b.*`), '').replace(/ [&|].*/, '');
    const [first = ''] = command.split(' ');
    // A flag at the end of a part of a text, whose value is added elsewhere.
    return prose.has(first) || / --client$/.test(command) ? [] : [command.replaceAll('"…"', 'x').replaceAll('…', 'x')];
  });
}

/** A text whose inserted values are several words, or flags. */
const severalWords: Readonly<Record<string, string>> = {
  'keys update x x': 'keys update x --role x',
  'server update x x x': 'server update x --start-timeout 60',
  'up x': 'up --start-empty',
  'move --to x --graph x': 'move --to distributed --graph sqlite',
  'server add NAME -- COMMAND ARGSx': 'server add NAME -- COMMAND ARGS',
};

test('every suggested command can be typed as it stands, with a name for each placeholder', async () => {
  const suggested = new Set(
    sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap(textsOf)
      .flatMap(suggestedIn),
  );
  expect(suggested.size).toBeGreaterThan(80);
  const cwd = mkdtempSync(join(tmpdir(), 'svc-hints-'));
  const wrong: string[] = [];
  const check = async (command: string) => {
    const typed = severalWords[command] ?? command;
    // Without an installation a command only parses what was typed. `init` would make one.
    const run = await runSvc([...typed.split(' '), ...(typed.startsWith('init') ? ['--help'] : [])], { cwd });
    if (/^Usage: |is not a command|There is no flag/m.test(run.stderr)) wrong.push(`svc ${command}: ${run.stderr}`);
  };
  const left = [...suggested];
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await check(next);
    }),
  );
  rmSync(cwd, { recursive: true });
  expect(wrong).toEqual([]);
}, 480_000);

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
