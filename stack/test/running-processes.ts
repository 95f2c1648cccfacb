import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What the system itself shows of a process: everything that its user could read there. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly environment: string;
}

/** Arguments and environments of other processes can be read on Linux only. */
export const processesAreShown = existsSync('/proc/self/environ');

/** All that run; what has ended and waits for a parent that never asks does not count. */
export function runningProcesses(): readonly RunningProcess[] {
  if (!processesAreShown) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** Those of an installation: its folder stands in their arguments, or in the HOME that its runtime gave them. */
export function processesOf(folder: string): readonly RunningProcess[] {
  const own = (one: RunningProcess) => one.command.includes(folder) || one.environment.includes(folder);
  return runningProcesses().filter((one) => one.pid !== process.pid && own(one));
}

/** How many descriptors a process holds. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The addresses that it listens on, as the system writes them: in hexadecimal, the first byte last. */
export function listeningOf(pid: number): readonly { readonly address: string; readonly port: number }[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`)));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'latin1')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/ +/))
      .filter(([, , , state, , , , , , inode]) => state === listening && own.has(`socket:[${inode}]`))
      .map(([, local = '']) => {
        const [address = '', port = ''] = local.split(':');
        return { address, port: Number.parseInt(port, 16) };
      }),
  );
}

/** TCP_LISTEN of the kernel. */
const listening = '0A';

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // Closed meanwhile.
  }
}

/** proc(5): /proc/pid/stat has the state and the parent behind the name, which may hold anything. */
function readProcess(pid: number): RunningProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1').replaceAll('\0', '\n');
    return { pid, parent: Number(parent), command: read('cmdline'), environment: read('environ') };
  } catch {
    return null; // It ended meanwhile, or belongs to somebody else.
  }
}
