import { readFileSync } from 'node:fs';
import { shellWord } from '../../services/contracts/shell-word.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export interface Program {
  /** The Node that runs svc. */
  readonly node: string;
  /** svc.cjs: a package in a folder is not on the PATH, and npx takes too long for a key press. */
  readonly script: string;
}

/** The script that a shell reads when it starts. It completes `svc`, `svc-platform` and, where nothing else does, `npx svc`. */
export function completionScript(shell: Shell, { node, script }: Program): string {
  return readFileSync(templates[shell], 'utf8')
    .replaceAll('{{RUN}}', () => `${shellWord(node)} ${shellWord(script)} __complete ${shell}`)
    .replaceAll('{{SCRIPT}}', () => shellWord(script));
}

const templates: Readonly<Record<Shell, URL>> = {
  bash: new URL('./svc.bash', import.meta.url),
  zsh: new URL('./svc.zsh', import.meta.url),
  fish: new URL('./svc.fish', import.meta.url),
};
