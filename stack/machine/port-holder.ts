import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { isCode } from './is-code.ts';
import { readProc } from './read-proc.ts';

/** The program that listens on a port, as far as this user may know. */
export interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

export function findPortHolder(port: number): PortHolder | null {
  return process.platform === 'linux' ? holderByProc(port) : holderByLsof(port);
}

/** Whether this process listens on a port. Null where this user may not know, as of a program with capabilities of its own. */
export function listensOn(pid: number, port: number): boolean | null {
  if (process.platform !== 'linux') return holderByLsof(port)?.pid === pid;
  const sockets = socketsOn(port);
  if (sockets === null) return null;
  return holdsSocket(String(pid), sockets);
}

/** "node (pid 4711)", or "another program" when it belongs to another user. */
export function describeHolder(port: number): string {
  const holder = findPortHolder(port);
  return holder === null ? 'another program' : `"${holder.command}" (pid ${holder.pid})`;
}

/** proc(5): /proc/net/tcp gives the port's socket inode, which is also among the files of its process. */
function holderByProc(port: number): PortHolder | null {
  const sockets = socketsOn(port);
  if (sockets === null || sockets.size === 0) return null;
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && holdsSocket(name, sockets) === true)
      return { pid: Number(name), command: commandOf(name) };
  }
  return null;
}

/** Null where this machine hides its sockets. */
function socketsOn(port: number): ReadonlySet<string> | null {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(readProc).filter((table) => table !== null);
  return tables.length === 0 ? null : new Set(tables.flatMap((table) => listeningSockets(table, port)));
}

const stateListening = '0A';

function listeningSockets(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === stateListening && inode !== undefined && local?.endsWith(`:${hex}`) ? [`socket:[${inode}]`] : [];
  });
}

/** Null for a process whose files this user may not read. */
function holdsSocket(pid: string, sockets: ReadonlySet<string>): boolean | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(targetOf(`/proc/${pid}/fd/${fd}`)));
  } catch (error) {
    return isCode(error, 'EACCES') || isCode(error, 'EPERM') ? null : false;
  }
}

/** Empty for a file that was closed meanwhile. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** The program and its first argument, unless that is an option, whose value may be a secret. */
function commandOf(pid: string): string {
  const [program = '', first = ''] = (readProc(`/proc/${pid}/cmdline`) ?? '').split('\0');
  const words = first.startsWith('-') ? program : `${program} ${first}`;
  return (
    words
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, 120) || (readProc(`/proc/${pid}/comm`) ?? '').trim()
  );
}

function holderByLsof(port: number): PortHolder | null {
  // Only macOS comes here. An error message is being made at once, so the question is synchronous and does not load execa.
  const { stdout } = spawnSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { encoding: 'utf8' });
  const pid = /^p(\d+)$/m.exec(stdout ?? '')?.[1];
  const command = /^c(.+)$/m.exec(stdout ?? '')?.[1];
  return pid === undefined ? null : { pid: Number(pid), command: command ?? 'a program' };
}
