/**
 * How the command is called where it was typed. Who has it from npm has no `svc` of their own and types `npx svc`; npm says so
 * in the environment.
 */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  return env.npm_command === 'exec' ? 'npx svc' : 'svc';
}

/** Puts that name before every command that a text tells to type: all texts are written with `svc`. */
export function withName(name: string, commandIds: readonly string[]): (text: string) => string {
  if (name === 'svc') return (text) => text;
  const words = [...new Set(commandIds.map((id) => id.split(':')[0]))].join('|');
  const told = new RegExp(`(?<![\\w./-])(?<!npx (?:--no )?)svc (?=(?:${words})\\b|--)`, 'g');
  return (text) => text.replace(told, `${name} `);
}
