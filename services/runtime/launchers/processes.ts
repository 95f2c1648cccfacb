import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

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
  let current: Promise<unknown> | null = null;
  let next: Promise<readonly Process[]> | null = null;
  const look = async () => {
    await current;
    next = null;
    const listing = process.platform === 'linux' ? listFromProc() : listFromPs();
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
  if (process.platform === 'linux') return (await readProcess(pid, await bootId()))?.birth ?? null;
  return (await listFromPs()).find((candidate) => candidate.pid === pid)?.birth ?? null;
}

async function listFromProc(): Promise<readonly Process[]> {
  const boot = await bootId();
  const found: Process[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const one = await readProcess(Number(name), boot);
    if (one !== null) found.push({ ...one, mark: await readMark(one.pid) });
  }
  return found;
}

/** proc(5), /proc/pid/stat. The name in parentheses may hold anything, parentheses too. */
async function readProcess(pid: number, boot: string): Promise<Process | null> {
  const stat = await readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === 'Z' || state === 'X') return null;
  const birth = `${boot}.${fields[19]}`;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), birth, mark: null };
}

async function readMark(pid: number): Promise<string | null> {
  const environment = await readOrNull(`/proc/${pid}/environ`);
  const entry = environment?.split('\0').find((candidate) => candidate.startsWith(`${markVariable}=`));
  return entry?.slice(markVariable.length + 1) ?? null;
}

/** Start times in /proc count from the boot. */
async function bootId(): Promise<string> {
  return (await readOrNull('/proc/sys/kernel/random/boot_id'))?.trim() ?? '';
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'latin1');
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
