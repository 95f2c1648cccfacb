import { shellWord } from '../../services/contracts/shell-word.ts';

/** The words of `svc server add` and `update`, split at `--` into those for svc and the command of the MCP server. */
export interface LaunchWords {
  readonly own: readonly string[];
  /** Null: there was no `--`. */
  readonly command: readonly string[] | null;
}

export type LaunchVerb = 'add' | 'update';

/** The line to type. */
export function launchLine(verb: LaunchVerb, { own, command }: LaunchWords): string {
  const words = [...own, ...(command === null ? [] : ['--', ...command])];
  return ['svc', 'server', verb, ...words.map(shellWord)].join(' ');
}
