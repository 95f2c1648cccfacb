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
  /** When it began, as the system tells it: together with the pid it names one process for ever. */
  readonly birth: string;
  /** Value of the mark in its environment, which whatever it starts inherits; null where there is none or it can't be read. */
  readonly mark: string | null;
}

/** Variable in the environment of every child that tells its descendants from all other processes. It holds no secret. */
export const markVariable = 'SVC_MCP_SERVER_INSTANCE';

/** All processes that live; those that have ended and wait to be fetched by their parent don't count. */
export type Look = () => Promise<readonly Process[]>;

/** Looks that are asked for while one is under way share the next one, so that ending many trees at once costs few. */
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

/** The birth of one process; null where there is none of that pid. */
export async function findBirth(pid: number): Promise<string | null> {
  if (process.platform === 'linux') return readProcess(pid, bootId())?.birth ?? null;
  return (await listFromPs()).find((candidate) => candidate.pid === pid)?.birth ?? null;
}

/** After this a process has become what it is: between fork and exec it still has the environment of its parent. */
const settledAfterSeconds = 10;
/** Start times in /proc are told in these (proc(5): USER_HZ, which is 100 on every architecture Node runs on). */
const ticksPerSecond = 100;

/** A look at /proc: one file for each process, and for new ones another, so that a machine with many processes is looked at quickly. */
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

/** proc(5), /proc/pid/stat. The name in parentheses may hold anything, parentheses too. */
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
    return null; // It ended meanwhile, or belongs to somebody else.
  }
}

/** macOS: no sessions and no environments are shown, so what left its group and lost its parent is not found. */
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
