import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readJson, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { lockHolder } from '../../state/lock.ts';
import { isSameSide, side, sideName } from './side.ts';

const kinds = z.object({ bus: z.boolean(), graph: z.boolean(), blobs: z.boolean() });

const replacement = z.object({
  /** The command that replaces the data; `nodes` is `svc up` with another number of NATS nodes, which waits for no confirmation. */
  command: z.enum(['move', 'restore', 'nodes']),
  /**
   * `keeping`: the data is in its place, and an archive of it is being written. `filling`: that archive counts, and the data goes back to what it
   * holds. `waiting`: the new data is whole and waits for --confirm or --undo. `undoing`: as `filling`. `confirming`: only the kept folder is left.
   */
  step: z.enum(['keeping', 'filling', 'waiting', 'undoing', 'confirming']),
  from: side,
  to: side,
  startedAt: z.iso.datetime(),
  /** Folder with the data before, relative to the installation. It is removed in the end, so no other folder is accepted. */
  kept: z.string().regex(/^data\/before-(move|restore|nodes)-[0-9TZ-]+$/),
  wasRunning: z.boolean(),
  /** The kinds of content that going back replaces. */
  replaced: kinds,
  /** The kinds that the kept archive holds. */
  archived: kinds,
  /** Parts whose own folders are copied too. */
  folders: z.array(z.string().regex(/^[a-z0-9-]+$/)),
  /** Addresses of an external Dgraph: the one with the data before, and the one with the data after. */
  elsewhere: z.object({ left: z.string().nullable(), filled: z.string().nullable() }),
  moved: z.array(z.object({ kind: z.string(), count: z.number().int(), digest: z.string() })),
});
export type Replacement = z.infer<typeof replacement>;

/** `state/replacement.json`: a replacement of the data that is not confirmed. Null if there is none. */
export function readReplacement({ stateDir }: Installation): Replacement | null {
  const file = recordIn(stateDir);
  if (!existsSync(file)) return null;
  const { data } = replacement.safeParse(readJson(file));
  if (data === undefined) {
    throw new SvcError('unsupported', '"state/replacement.json" is damaged, or of another version.', {
      hint: 'Use the version that wrote it, or restore the file. The data before is in data/before-….',
    });
  }
  return data;
}

export function writeReplacement({ stateDir }: Installation, state: Replacement): void {
  writeDurably(recordIn(stateDir), JSON.stringify(state, null, 2));
}

/** The last step of every replacement. The kept folder goes first, so that it is never left without a record. */
export function forgetReplacement(installation: Installation, state: Replacement): void {
  writeReplacement(installation, { ...state, step: 'confirming' });
  rmSync(keptFilesOf(installation, state).dir, { recursive: true, force: true });
  rmSync(recordIn(installation.stateDir), { force: true });
}

/** The kept folder, and what it holds beside the own folders of parts. */
export function keptFilesOf(installation: Installation, { kept }: Replacement) {
  const dir = join(installation.dir, kept);
  return {
    dir,
    archive: join(dir, 'content.backup.gz'),
    /** svc.yaml before, and as it becomes. Only a move changes it. */
    definition: join(dir, 'svc.yaml'),
    newDefinition: join(dir, 'new-svc.yaml'),
    secretsDir: join(dir, 'secrets'),
  };
}

export function writeDefinition({ definitionFile }: Installation, text: string): void {
  writeDurably(definitionFile, text, statSync(definitionFile).mode & 0o777);
}

function recordIn(stateDir: string): string {
  return join(stateDir, 'replacement.json');
}

/** A replacement at the beginning of a sentence. */
export function replacementName({ command, from, to }: Replacement): string {
  if (command === 'nodes') return 'The change of the number of NATS nodes';
  return command === 'restore' || isSameSide(from, to)
    ? 'The restore'
    : `The move from ${sideName(from)} to ${sideName(to)}`;
}

export function commandsToEnd({ command }: Replacement): string {
  return command === 'nodes' ? 'svc up' : `svc ${command} --confirm, or svc ${command} --undo`;
}

/** Refuses another replacement while one waits to be confirmed. */
export function refuseWaiting(installation: Installation): void {
  const waiting = readReplacement(installation);
  if (waiting === null) return;
  const { command, kept } = waiting;
  const before = command === 'move' ? 'old side' : 'data before';
  throw new SvcError('conflict', `${replacementName(waiting)} is not confirmed yet: the ${before} is in ${kept}.`, {
    hint: `If all is well: svc ${command} --confirm. To go back to it: svc ${command} --undo`,
  });
}

/** A move or restore that was cut short, and the command that ends it, in words. Null if there is none, or a command is at work on it. */
export function describeInterruptedReplacement(installation: Installation): string | null {
  if (lockHolder(installation, 'command') !== null) return null;
  try {
    return interruptionOf(readReplacement(installation));
  } catch (error) {
    // A status is an answer, whatever another version has written.
    if (error instanceof SvcError) return error.message;
    throw error;
  }
}

/** What `svc up` does with a replacement that a killed command left; null if it waits for the operator's decision. */
export function interruptionOf(state: Replacement | null): string | null {
  if (state === null || state.step === 'waiting') return null;
  const isFinished = state.command === 'nodes' || state.step === 'undoing' || state.step === 'confirming';
  const next = isFinished ? 'finishes it' : 'takes it back';
  return `${replacementName(state)} that began at ${state.startedAt} was interrupted: svc up ${next}.`;
}
