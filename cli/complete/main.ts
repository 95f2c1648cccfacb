import { getInstallation } from '../../stack/state/installation.ts';
import { workspaceWithoutFlag } from '../../stack/state/workspace-in-use.ts';
import { type Completion, completeAt, type Word } from './complete.ts';
import { readCommands } from './manifest.ts';

/**
 * `svc __complete SHELL WORD… CURRENT`, which the scripts of `svc completion` run at each Tab. Prints `words`, `files` or
 * `folders` on the first line, then a word a line, for fish and zsh with a tab and its meaning. A failure prints nothing.
 */
export async function complete(typed: readonly string[], root: string): Promise<void> {
  try {
    const [shell = '', ...raw] = typed;
    const joined = shell === 'bash' ? joinBashWords(raw) : raw;
    const current = joined.at(-1) ?? '';
    const found = completeAt(joined.slice(0, -1), unquoted(current), readCommands(root));
    process.stdout.write(await textOf(found, { current: unquoted(current), shell, lastRaw: raw.at(-1) ?? '' }));
  } catch {
    // A line of a person's shell is no place for an error.
  }
}

/** Bash makes words of `=` and of the texts around it. */
function joinBashWords(words: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const [at, word] of words.entries()) {
    const isValue = words[at - 1] === '=' && words[at - 2]?.startsWith('--');
    const isSign = word === '=' && words[at - 1]?.startsWith('--');
    if (isValue || isSign) joined.push(`${joined.pop() ?? ''}${word}`);
    else joined.push(word);
  }
  return joined;
}

function unquoted(word: string): string {
  return word.replace(/^["']/, '').replace(/\\(.)/g, '$1');
}

interface Cursor {
  /** The whole word. */
  readonly current: string;
  readonly shell: string;
  /** What the shell takes for the word: bash takes the part after `=`. */
  readonly lastRaw: string;
}

async function textOf(found: Completion, { current, shell, lastRaw }: Cursor): Promise<string> {
  if (found.kind === 'files' || found.kind === 'folders') return `${found.kind}\n`;
  const [, flag = '', value = current] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  const words = found.kind === 'words' ? found.words : await namesAt(found, value);
  const before = shell === 'bash' && flag !== '' && lastRaw !== current ? '' : flag;
  const lines = words
    .filter(({ word }) => word.startsWith(value) && !/\p{Cc}/u.test(word))
    .map(({ word, about }) => `${before}${word}${shell === 'bash' || about === '' ? '' : `\t${about}`}`);
  return ['words', ...lines, ''].join('\n');
}

async function namesAt(found: Extract<Completion, { kind: 'names' }>, begun: string): Promise<readonly Word[]> {
  const { findNames } = await import('./names.ts');
  const installation = getInstallation({ dir: found.dir, env: process.env, cwd: process.cwd() });
  const workspace = found.workspace ?? workspaceWithoutFlag(installation, process.env);
  const names = await findNames(installation, { ...found, workspace, begun });
  return names.map((word) => ({ word, about: '' }));
}
