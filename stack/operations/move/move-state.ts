import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readJson, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { processIdentity } from '../../state/process-identity.ts';
import { side } from './side.ts';

/**
 * Until `switching` the old side is whole and in its place, and what was begun is taken back. From there on the new side is whole, and
 * what was begun is finished. `moved` waits to be confirmed or undone, which are finished once begun.
 */
const phases = ['preparing', 'switching', 'moved', 'confirming', 'undoing'] as const;

const kindOfContent = z.object({ kind: z.string(), count: z.number().int(), digest: z.string() });

const moveState = z.object({
  phase: z.enum(phases),
  /** Whether what stood where the other side comes is out of its way: what is left of the switch, or of an undo, is to put that in place. */
  isCleared: z.boolean().default(false),
  from: side,
  to: side,
  startedAt: z.string(),
  /** Folder of the old side, relative to the installation. */
  kept: z.string(),
  /** Whether the platform ran when it began: then it shall run at the end. */
  wasRunning: z.boolean(),
  /** What the move itself has started. */
  processes: z.array(z.object({ name: z.string(), process: processIdentity })),
  /** Addresses of a Dgraph that somebody else runs: the one that keeps the old side, and the one that was given the new one. */
  elsewhere: z.object({ left: z.string().nullable(), filled: z.string().nullable() }),
  /** Where Docker is, if either side is in it, which volumes were there before, and whether the move itself has something run there. */
  docker: z
    .object({ socket: z.string(), volumes: z.array(z.string()), isBusy: z.boolean() })
    .nullable()
    .default(null),
  /** In data/, or volumes of parts with these names: what is copied only to another engine. */
  folders: z.array(z.string()).default([]),
  /** What was carried over and verified. */
  moved: z.array(kindOfContent),
});
export type MoveState = z.infer<typeof moveState>;

/** `state/move.json`: how far a move has come that is not confirmed. Null where there is none. Throws where it says what is not understood. */
export function readMove({ stateDir }: Installation): MoveState | null {
  const file = moveFile(stateDir);
  if (!existsSync(file)) return null;
  const { data } = moveState.safeParse(readJson(file));
  if (data !== undefined) return data;
  throw new SvcError('unsupported', '"state/move.json" is of a move that another version has begun.', {
    hint: 'Bring it to its end with that version: svc move --confirm, or svc move --undo',
  });
}

export function writeMove({ stateDir }: Installation, state: MoveState): void {
  writeDurably(moveFile(stateDir), JSON.stringify(state, null, 2));
}

export function removeMove({ stateDir }: Installation): void {
  rmSync(moveFile(stateDir), { force: true });
}

/** Where the new side is made: nobody but a move knows of it. */
export function stagingDirOf({ dataDir }: Installation): string {
  return join(dataDir, 'moving');
}

export function keptDirOf({ dir }: Installation, { kept }: Pick<MoveState, 'kept'>): string {
  return join(dir, kept);
}

function moveFile(stateDir: string): string {
  return join(stateDir, 'move.json');
}
