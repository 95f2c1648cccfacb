import { setTimeout as pause } from 'node:timers/promises';
import type { Look, Process } from './processes.ts';

/** A process that was started as the head of a new session, with a mark in its environment. */
export interface TreeRoot {
  readonly pid: number;
  readonly mark: string;
  /** Null when it is unknown, or the root had ended before the look. */
  readonly birth: string | null;
  /** Whether the pid is certainly the root's, so that its group and session count as well. */
  readonly current: boolean;
  /** It only holds the others: a signal to it would kill them before they can finish. */
  readonly isHolder: boolean;
}

/**
 * The root and all its descendants: by parent, by group or session, and by its mark, which finds processes that left
 * all of these.
 */
export function treeOf(root: TreeRoot, processes: readonly Process[]): readonly Process[] {
  return withDescendants(
    processes.filter((one) => belongs(root, one)),
    processes,
  );
}

function belongs(root: TreeRoot, one: Process): boolean {
  if (one.mark === root.mark) return true;
  if (!root.current) return false;
  if (one.pid === root.pid) return root.birth === null || one.birth === root.birth;
  return one.group === root.pid || one.session === root.pid;
}

function withDescendants(heads: readonly Process[], processes: readonly Process[]): readonly Process[] {
  const children = Map.groupBy(processes, (one) => one.parent);
  const found = new Map<number, Process>();
  const waiting = [...heads];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one.pid)) continue;
    found.set(one.pid, one);
    waiting.push(...(children.get(one.pid) ?? []));
  }
  return [...found.values()];
}

/** The known processes that still live, their new children, and new members. */
export function notedTree(root: TreeRoot, known: readonly Process[], now: readonly Process[]): readonly Process[] {
  const births = new Map(known.map((one) => [one.pid, one.birth]));
  const living = now.filter((one) => births.get(one.pid) === one.birth || belongs(root, one));
  return withDescendants(living, now);
}

export interface EndTreeOptions {
  readonly look: Look;
  /** Processes seen earlier; they may have left the session since. */
  readonly known?: readonly Process[];
  /** Between the signal to end and the kill. */
  readonly graceMs: number;
}

/**
 * Signals the whole tree to end, then kills the rest until no process is found. Returns processes that could not be
 * ended.
 */
export async function endTree(
  root: TreeRoot,
  { look, known = [], graceMs }: EndTreeOptions,
): Promise<readonly number[]> {
  let living = notedTree(root, known, await look());
  signal(
    living.filter(({ pid }) => !(root.isHolder && pid === root.pid)),
    'SIGTERM',
  );
  const deadline = performance.now() + graceMs;
  for (let waitMs = firstWaitMs; living.length > 0 && performance.now() < deadline; waitMs = nextWait(waitMs)) {
    await pause(waitMs);
    living = notedTree(root, living, await look());
  }
  for (let round = 0; living.length > 0 && round < killRounds; round++) {
    signal(living, 'SIGKILL');
    await pause(firstWaitMs * 2 ** round);
    living = notedTree(root, living, await look());
  }
  return living.map((one) => one.pid);
}

const firstWaitMs = 10;
const waitMaxMs = 200;
/** Enough to catch a tree that forks meanwhile; a process that survives is stuck in the kernel. */
const killRounds = 8;

function nextWait(waitMs: number): number {
  return Math.min(waitMs * 2, waitMaxMs);
}

/** One by one, because a group holds only the processes that stayed in it. */
function signal(processes: readonly Process[], name: 'SIGTERM' | 'SIGKILL'): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended meanwhile.
    }
  }
}
