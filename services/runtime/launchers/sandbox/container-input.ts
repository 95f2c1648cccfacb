/**
 * The command of every container. Every user of Docker can read a container's options, so variables and arguments,
 * which contain secrets, arrive as the first line of its standard input. `$0` is a line break, which that line cannot
 * contain.
 */
export const entry: readonly string[] = ['sh', '-c', 'IFS= read -r told && eval "$told"', '\n'];

/** Makes docker-init pass signals on to the whole group, as for a tree outside of containers. */
export const groupSignals = 'TINI_KILL_PROCESS_GROUP';

export interface ContainerCommand {
  readonly env: Readonly<Record<string, string>>;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The first line of a container's input. A variable whose name is invalid in a shell is left out: only npm has such
 * names, among its settings.
 */
export function firstInputLine({ env, command, args }: ContainerCommand): string {
  const settings = Object.entries(env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  const exports = settings.map(([name, value]) => `export ${name}=${quoted(value)}; `).join('');
  return `unset ${groupSignals}; ${exports}exec ${[command, ...args].map(quoted).join(' ')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('\n', `'"$0"'`)}'`;
}
