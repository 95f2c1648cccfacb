import { relative, resolve } from 'node:path';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { findInstallation, type Installation } from '../../stack/state/installation.ts';

export interface Typed {
  readonly installation: Installation;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The next command for this installation. It has --dir only if svc would not find the installation from here. */
export function nextCommand(words: string, { installation, env, cwd }: Typed): string {
  const found = findInstallation({ env, cwd });
  if (found !== null && resolve(found.dir) === resolve(installation.dir)) return `svc ${words}`;
  const way = relative(cwd, installation.dir);
  const dir = way.startsWith('..') ? installation.dir : way || '.';
  const [command, afterDashes] = words.split(/ (?=-- )/);
  return ['svc', command, '--dir', shellWord(dir), ...(afterDashes === undefined ? [] : [afterDashes])].join(' ');
}
