import { mkdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, type ArchiveFile, writeArchive } from '../../content/archive.ts';
import { allKinds, type Kinds, noKinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import { engineOf, isSameEngine, isUp } from '../../engines/engine-of.ts';
import { ownFoldersOf, type Places } from '../../engines/places.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { Plan } from '../../plan/plan.ts';
import { syncFolder, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { keepSecrets, putSecrets } from './archived-secrets.ts';
import { emptyElsewhere, emptyPlaces, fillPlaces, graphElsewhere, placesOf } from './fill-places.ts';
import { takeBack } from './put-back.ts';
import { keptFilesOf, type Replacement, writeDefinition, writeReplacement } from './replacement.ts';
import { sideOf } from './side.ts';

/** The steps of a replacement, in this order. */
export type ReplaceStep = 'stop' | 'keep' | 'fill' | 'verify' | 'write-definition' | 'start';

export type ReplaceProgress = Progress | { readonly kind: 'step'; readonly step: ReplaceStep };

export interface ReplaceOptions {
  readonly command: Replacement['command'];
  readonly from: Plan;
  readonly to: Plan;
  /** The new text of svc.yaml; null if it stays. */
  readonly definition: string | null;
  /** The content that gets another place, or other records. */
  readonly kinds: Kinds;
  /** The archive to fill from, and its secrets; null: the archive of the data before. */
  readonly restored: (ArchiveFile & Pick<ArchiveContent, 'secrets'>) | null;
  readonly wasRunning: boolean;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReplaceProgress) => void;
}

/**
 * Replaces the data of an installation: the data before is kept as an archive, its places are emptied, and the places of the target are filled. If
 * anything fails, the archive brings the data before back. The caller has the lock of a command.
 */
export async function replaceData(options: ReplaceOptions): Promise<Replacement> {
  const { command, from, to, definition, kinds, restored, env, signal, onProgress } = options;
  const { installation } = from;
  const access = { env, signal, onNotice: (message: string) => onProgress({ kind: 'notice', message }) };
  const step = (name: ReplaceStep) => onProgress({ kind: 'step', step: name });
  let state = beginning(options);
  const note = (next: Partial<Replacement>) => {
    state = { ...state, ...next };
    writeReplacement(installation, state);
  };
  note({});
  try {
    step('stop');
    await stopPlatform(installation, onProgress);
    signal.throwIfAborted();
    using _data = acquireLock(installation, 'platform');
    const places = await placesOf(from, access);
    step('keep');
    const archived = await keep(options, { places, state }).catch(async (error: unknown) => {
      throw restored !== null && !signal.aborted ? await notKept(error, places) : error;
    });
    note({ archived });
    signal.throwIfAborted();
    note({ step: 'filling' });
    step('fill');
    await emptyPlaces(places, state, kinds);
    if (restored !== null) await emptyElsewhere(to);
    const target = { plan: to, places: await placesOf(to, access), state, kinds };
    const moved = await fillPlaces({ ...target, archive: restored, onFilled: () => step('verify'), signal });
    signal.throwIfAborted();
    step('write-definition');
    if (restored !== null) putSecrets(installation, restored.secrets);
    if (definition !== null) writeDefinition(installation, definition);
    // A change of nodes is not undone: svc.yaml asks for the new number.
    note({ step: command === 'nodes' ? 'confirming' : 'waiting', moved: [...moved] });
    return state;
  } catch (error) {
    await takeBack(installation, state, access).catch((failure: unknown) => {
      access.onNotice(
        `The data before is in ${state.kept} and was not put back yet: ${inWords(failure)} Try again: svc up`,
      );
    });
    throw error;
  }
}

/** The record of a replacement that has changed nothing yet. */
function beginning({ command, from, to, kinds, wasRunning }: ReplaceOptions): Replacement {
  const startedAt = new Date().toISOString();
  const sides = { from: sideOf(from.definition), to: sideOf(to.definition) };
  return {
    ...{ command, step: 'keeping', startedAt, wasRunning, ...sides, moved: [], archived: noKinds },
    kept: `data/before-${command}-${startedAt.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')}`,
    // The platform may change a graph that a move leaves in its place.
    replaced: command === 'move' ? { ...allKinds, bus: kinds.bus } : kinds,
    folders: isSameEngine(sides.from, sides.to) ? [] : [...ownFoldersOf(from)],
    elsewhere: {
      left: kinds.graph ? graphElsewhere(from.definition) : null,
      filled: kinds.graph ? graphElsewhere(to.definition) : null,
    },
  };
}

/** Data that cannot be read is a reason to restore a backup. */
export async function notKept(cause: unknown, places: Places): Promise<SvcError> {
  const { code } = toSvcError(cause);
  return new SvcError(code, `The present data can't be kept: ${inWords(cause)}`, {
    hint: `To restore without it: ${places.clearHint(await places.list())}`,
    cause,
  });
}

/** Writes the data before into the kept folder. Returns its kinds of content. */
async function keep(
  { from, definition, restored, signal }: ReplaceOptions,
  { places, state }: { readonly places: Places; readonly state: Replacement },
): Promise<Kinds> {
  const { installation } = from;
  const files = keptFilesOf(installation, state);
  mkdirSync(files.dir, { mode: 0o700 });
  if (definition !== null) {
    writeDurably(files.definition, readFileSync(installation.definitionFile, 'utf8'));
    writeDurably(files.newDefinition, definition);
  }
  if (restored !== null) keepSecrets(installation, files.secretsDir, restored.secrets);
  const opening = { plan: from, places, kinds: state.replaced, to: 'read', signal } as const;
  const kinds = await withStore(opening, async (store) => {
    const there = { bus: store.bus !== null, graph: store.graph !== null, blobs: store.blobs !== null };
    if (!Object.values(there).includes(true)) return noKinds;
    await using handle = await open(files.archive, 'wx', 0o600);
    await writeArchive(store, {
      ...{ plan: from, createdAt: state.startedAt, bus: there.bus ? 'exact' : 'none' },
      ...{ file: files.archive, handle, secrets: null, passphrase: null, signal },
    });
    return there;
  });
  for (const part of state.folders) await places.copyOut(part, join(files.dir, part));
  syncFolder(files.dir);
  syncFolder(installation.dataDir);
  return kinds;
}

/** Stops a platform that runs. An interruption does not keep it from stopping: it could not be started again before. */
export async function stopPlatform(
  installation: Installation,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  if (!isUp(installation)) return;
  await engineOf(installation).down({ installation, onProgress });
}
