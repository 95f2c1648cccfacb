import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { z } from 'zod';
import { readProc } from '../machine/read-proc.ts';

/** A process, distinguished from earlier and later ones with the same pid. */
export const processIdentity = z.object({ pid: z.number().int().positive(), startTime: z.string() });
export type ProcessIdentity = Readonly<z.infer<typeof processIdentity>>;

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
}

/** Whether it is still the same process: pids are reused, start times are not. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime;
}

/** When the process of that pid started, as a text to compare; null for none, or for a zombie. */
export function startTimeOf(pid: number): string | null {
  return process.platform === 'linux' ? startTimeOnLinux(pid) : startTimeByPs(pid);
}

/** The working directory of a process, or null when the system does not say. */
export function workingDirOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** The command that a process of svc runs, such as "up", or null. Words after a flag may be secret, so only the first word counts. */
export function svcCommandOf(pid: number): string | null {
  const words =
    process.platform === 'linux' ? readProc(`/proc/${pid}/cmdline`)?.split('\0') : ps(pid, 'args=').split(' ');
  const script = words?.findIndex((word) => /(^|\/)svc(\.cjs|-platform)?$/.test(word)) ?? -1;
  const first = script === -1 ? undefined : words?.[script + 1];
  return first !== undefined && /^[a-z]{2,20}$/.test(first) ? first : null;
}

export function memoryOf(pid: number): number | null {
  if (process.platform === 'linux') {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  }
  const kilobytes = Number.parseInt(ps(pid, 'rss='), 10);
  return Number.isNaN(kilobytes) ? null : kilobytes * 1024;
}

/**
 * proc(5), /proc/pid/stat: field 3 is the state, field 20 the number of threads, field 22 the start in clock ticks
 * since boot. The name before may contain anything. A zombie keeps its ports until its other threads have ended.
 */
function startTimeOnLinux(pid: number): string | null {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, ticks] = [fields[0], Number(fields[17]), fields[19]];
  if (state === 'X' || (state === 'Z' && threads <= 1) || ticks === undefined) return null;
  // Ticks restart at each boot.
  return `${readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${ticks}`;
}

function startTimeByPs(pid: number): string | null {
  const [state, ...started] = ps(pid, 'state=,lstart=').trim().split(/\s+/);
  return state === undefined || state === '' || state.startsWith('Z') ? null : started.join(' ');
}

/** Synchronous, because locks and records are judged within one turn. Every command does that, so it does not load execa. */
function ps(pid: number, columns: string): string {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  return spawnSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8', env }).stdout ?? '';
}
