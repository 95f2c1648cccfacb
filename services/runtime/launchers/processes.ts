import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { promisify } from 'node:util';
import { giveWay } from '../../kit/give-way.ts';

/** A process of this machine at the moment of a look. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Its start time: together with the pid it identifies one process for ever. */
  readonly birth: string;
  /** Value of the mark in its environment, which its children inherit; null when there is none or it cannot be read. */
  readonly mark: string | null;
}

/**
 * Environment variable of every child that distinguishes its descendants from all other processes. It is not a secret.
 */
export const markVariable = 'SVC_MCP_SERVER_INSTANCE';

/** All live processes, without zombies. */
export type Look = () => Promise<readonly Process[]>;

/** Requests during a running look share the next one, so that ending many trees at once costs few looks. */
export function createLook(): Look {
  const list = process.platform === 'linux' ? createProcLister() : listFromPs;
  let current: Promise<unknown> | null = null;
  let next: Promise<readonly Process[]> | null = null;
  const look = async () => {
    await current;
    next = null;
    const listing = list();
    current = listing.catch(() => null);
    return listing;
  };
  return () => {
    next ??= look();
    return next;
  };
}

/** The start time of the process with this pid; null if there is none. */
export async function findBirth(pid: number): Promise<string | null> {
  if (process.platform === 'linux') return readProcess(pid, bootId())?.birth ?? null;
  return (await listFromPs()).find((candidate) => candidate.pid === pid)?.birth ?? null;
}

/** After this long a process has its own environment. Between fork and exec it still has its parent's. */
const settledAfterSeconds = 10;
/** Unit of start times in /proc (proc(5): USER_HZ, which is 100 on every architecture Node runs on). */
const ticksPerSecond = 100;

/**
 * Reads /proc: one file for each process, and a second one for new ones, so that a machine with many processes is read
 * quickly.
 */
function createProcLister(): Look {
  const boot = bootId();
  let unmarked = new Map<number, string>();
  return async () => {
    const found: Process[] = [];
    const stillUnmarked = new Map<number, string>();
    const settledBefore = (uptime() - settledAfterSeconds) * ticksPerSecond;
    for (const name of readdirSync('/proc')) {
      await giveWay();
      const pid = Number(name);
      const one = Number.isInteger(pid) ? readProcess(pid, boot) : null;
      if (one === null) continue;
      const mark = unmarked.get(pid) === one.birth ? null : readMark(pid);
      if (mark === null && one.ticks < settledBefore) stillUnmarked.set(pid, one.birth);
      found.push({ ...one, mark });
    }
    unmarked = stillUnmarked;
    return found;
  };
}

/** proc(5), /proc/pid/stat. The name in parentheses may contain anything, parentheses too. */
function readProcess(pid: number, boot: string): (Omit<Process, 'mark'> & { readonly ticks: number }) | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === 'Z' || state === 'X') return null;
  const ticks = Number(fields[19]);
  const birth = `${boot}.${ticks}`;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), birth, ticks };
}

function readMark(pid: number): string | null {
  const environment = readOrNull(`/proc/${pid}/environ`);
  const entry = environment?.split('\0').find((candidate) => candidate.startsWith(`${markVariable}=`));
  return entry?.slice(markVariable.length + 1) ?? null;
}

/** Start times in /proc count from the boot. */
function bootId(): string {
  return readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // It ended meanwhile, or belongs to another user.
  }
}

/** macOS shows no sessions and no environments, so a process that left its group and lost its parent is not found. */
async function listFromPs(): Promise<readonly Process[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,state=,lstart='], {
    maxBuffer: psMaxBytes,
    timeout: psTimeoutMs,
    env: { LC_ALL: 'C' },
  });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, birth] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (birth === undefined || state?.startsWith('Z')) return [];
    const groupId = Number(group);
    return [{ pid: Number(pid), parent: Number(parent), group: groupId, session: groupId, birth, mark: null }];
  });
}

const psMaxBytes = 16 * 1024 * 1024;
const psTimeoutMs = 5000;
