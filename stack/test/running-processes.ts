import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The system's data about a process, which the user of the process could read there. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly environment: string;
}

/** Arguments and environments of other processes can be read on Linux only. */
export const processesAreShown = existsSync('/proc/self/environ');

/** All running processes, without zombies. */
export function runningProcesses(): readonly RunningProcess[] {
  if (!processesAreShown) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/**
 * Processes of an installation: its folder is in their arguments, environment or working directory, or their TMPDIR is one
 * that its runtime made.
 */
export function processesOf(folder: string): readonly RunningProcess[] {
  const marks = [folder, ...temporaryFoldersOf(folder).map((base) => `TMPDIR=${base}/`)];
  const own = ({ pid, command, environment }: RunningProcess) =>
    command.includes(folder) ||
    marks.some((mark) => environment.includes(mark)) ||
    `${linkOf(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`);
  return runningProcesses().filter((one) => one.pid !== process.pid && own(one));
}

/** Folders of running and killed runtimes. They have notes about those outside of the installation. */
function temporaryFoldersOf(folder: string): readonly string[] {
  return globSync('**/runtime/temporary/svc-*', { cwd: folder }).flatMap((note) => {
    try {
      return [String(JSON.parse(readFileSync(join(folder, note), 'utf8')).base)];
    } catch {
      return []; // The runtime has ended meanwhile.
    }
  });
}

/** How many descriptors a process holds. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The addresses on which a process listens, in the kernel's format: hexadecimal, the first byte last. */
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
    return ''; // The descriptor was closed meanwhile.
  }
}

/** proc(5): in /proc/pid/stat, the state and the parent follow the name, which may hold any text. */
function readProcess(pid: number): RunningProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'latin1').replaceAll('\0', '\n');
    return { pid, parent: Number(parent), command: read('cmdline'), environment: read('environ') };
  } catch {
    return null; // The process ended meanwhile, or belongs to another user.
  }
}
