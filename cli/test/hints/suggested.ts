import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';
import { svcFile } from '../run-svc.ts';

const repository = join(svcFile, '../..');

/** Words that follow the program's name in sentences about it. */
export const prose: ReadonlySet<string> = new Set(['needs', 'runs', 'as']);

/** The texts of a source file that may name a command, without its comments; `…` replaces inserted values. */
export function textsOf(path: string): string[] {
  const source = readFileSync(join(repository, path), 'utf8');
  if (!path.endsWith('.ts')) return [source];
  // Parsing takes most of the time, and most files name no command.
  if (!/svc [a-z]|config\.bin/.test(source)) return [];
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

export const sources = globSync(
  ['{services,stack,cli}/**/*.ts', 'cli/*.cjs', 'templates/**/*.{yaml,md}', 'docs/*.md', '**/README.md'],
  {
    cwd: repository,
    exclude: ['**/node_modules/**', 'dist/**', '**/test/**', '**/*.test.ts'],
  },
).sort();

/** Verbs of sentences in which a suggested command is the subject. */
const verbs =
  'does|hands|in|lists|makes|names|needs|pulls|reads|removes|replaces|returns|shows|starts|tells|told|writes';

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

/** Every command that a message of the product suggests. `x` stands for an inserted value. */
export function suggestedCommands(): readonly string[] {
  const texts = sources.filter((path) => path.endsWith('.ts')).flatMap(textsOf);
  return [...new Set(texts.flatMap(suggestedIn))].sort();
}
