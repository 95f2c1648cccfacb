import { basename } from 'node:path';

export interface Call {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file that Node was given. */
  readonly script: string | undefined;
}

/**
 * The typed name of the command. A user who installed it with npm has no `svc` on the PATH and types `npx svc`, which
 * npm shows in the environment. The package gives the command its own name too.
 */
export function commandName({ env, script = '' }: Call): string {
  const name = basename(script) === 'svc-platform' ? 'svc-platform' : 'svc';
  return env.npm_command === 'exec' ? `npx ${name}` : name;
}

/** Replaces `svc` in a text by that name wherever a command begins. */
export function withName(name: string, commandIds: readonly string[]): (text: string) => string {
  if (name === 'svc') return (text) => text;
  const words = [...new Set(commandIds.map((id) => id.split(':')[0]))].join('|');
  const told = new RegExp(`(?<![\\w./-])(?<!npx (?:--no |-y -p \\S+ )?)svc (?=(?:${words})\\b|--)`, 'g');
  return (text) => text.replace(told, `${name} `);
}
