/**
 * What a container runs, whatever its MCP server is: Docker tells everybody who may ask it what a container was made of, so that variables and
 * arguments, which hold secrets, come on its standard input, as one line before all others. `$0` is a line break, which that line can't hold.
 */
export const entry: readonly string[] = ['sh', '-c', 'IFS= read -r told && eval "$told"', '\n'];

/** Makes docker-init, which passes signals on, pass them to all of the group, as a tree is asked to end elsewhere. */
export const groupSignals = 'TINI_KILL_PROCESS_GROUP';

export interface Told {
  readonly env: Readonly<Record<string, string>>;
  readonly command: string;
  readonly args: readonly string[];
}

/** That line. A variable whose name a shell can't take is left out: npm alone has such names, among its settings. */
export function tell({ env, command, args }: Told): string {
  const settings = Object.entries(env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  const exports = settings.map(([name, value]) => `export ${name}=${quoted(value)}; `).join('');
  return `unset ${groupSignals}; ${exports}exec ${[command, ...args].map(quoted).join(' ')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('\n', `'"$0"'`)}'`;
}
