import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { isGone } from '../place/node-data.ts';
import { hasEnded, sendSignal } from '../state/end-process.ts';
import { readId } from '../state/find-original.ts';
import type { KnownInstallation } from '../state/known-installations.ts';
import { endInOrder } from '../state/left-processes.ts';
import { type MarkedProcess, markedProcesses } from '../state/process-mark.ts';

/** What a folder holds, for someone who looks for the installation of an id. */
export type FolderContent = 'it' | 'another' | 'nothing' | 'unclear';

/** `unclear`: something is there, and a permission, a disk or a mistake in svc.yaml hides what. */
export function contentOf(dir: string, id: string): FolderContent {
  const found = readId(dir);
  if (found !== null) return found === id ? 'it' : 'another';
  try {
    statSync(join(dir, 'svc.yaml'));
    return 'unclear';
  } catch (error) {
    return isGone(error) ? 'nothing' : 'unclear';
  }
}

/** The folder of an installation: the listed one, or the one to which it was moved while its processes ran. Null: neither holds it. */
export function findFolder(
  id: string,
  listed: KnownInstallation | null,
  left: readonly MarkedProcess[],
): string | null {
  const folders = [listed?.dir, ...left.map(({ dir }) => dir)];
  return folders.find((dir) => dir != null && contentOf(dir, id) === 'it') ?? null;
}

export function markedOf(id: string): readonly MarkedProcess[] {
  return markedProcesses().filter((one) => one.id === id);
}

/** The platform stops its parts by itself, in their order. Without it, only work that is nearly done is worth waiting for. */
const graceMs = { platform: 15_000, part: 3_000 } as const;
const killTimeoutMs = 5_000;
/** A part may start while the others end. */
const roundsMax = 3;

/** Ends the processes with the mark of an installation. Each is checked again before each signal: its pid and its start time. Returns them. */
export async function endMarked(id: string): Promise<readonly MarkedProcess[]> {
  const seen = new Map<number, MarkedProcess>();
  for (let round = 0; round < roundsMax; round++) {
    const left = markedOf(id);
    for (const one of left) seen.set(one.process.pid, one);
    for (const one of left.filter(isPlatform)) await endOne(one, graceMs.platform);
    const parts = left.filter((one) => !isPlatform(one));
    await endInOrder(
      parts,
      ({ part }) => part,
      (one) => endOne(one, graceMs.part),
    );
  }
  const left = markedOf(id);
  if (left.length === 0) return [...seen.values()];
  throw new SvcError(
    'unavailable',
    `Processes of the installation ${id} do not end, or start again: ${inWords(left)}.`,
    {
      hint: 'A platform in the foreground of a terminal restarts them. Press Ctrl-C there.',
    },
  );
}

/** Such as "backend (pid 12)". */
export function inWords(left: readonly MarkedProcess[]): string {
  return left.map(({ part, process }) => `${part} (pid ${process.pid})`).join(', ');
}

function isPlatform({ part }: MarkedProcess): boolean {
  return part === 'platform';
}

async function endOne({ process }: MarkedProcess, waitMs: number): Promise<void> {
  sendSignal(process, 'SIGTERM');
  if (await hasEnded(process, waitMs)) return;
  sendSignal(process, 'SIGKILL');
  await hasEnded(process, killTimeoutMs);
}
