import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, type ArchiveFile, writeArchive } from '../../content/archive.ts';
import { type ArchiveHead, formatVersion } from '../../content/archive-format.ts';
import { type Kinds, noKinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import { ArchiveWriter } from '../../content/write-archive.ts';
import { engineOf, isUp } from '../../engines/engine-of.ts';
import type { Places } from '../../engines/places.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import { ownVersion } from '../../machine/version.ts';
import type { Plan } from '../../plan/plan.ts';
import { fingerprintOf, secretFilesOf } from '../../secrets/secrets.ts';
import { syncFolder, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { keepSecrets, putSecrets } from './archived-secrets.ts';
import { both, emptyElsewhere, emptying, fillPlaces, graphElsewhere, placesOf } from './fill-places.ts';
import { takeBack } from './put-back.ts';
import { keptDirOf, keptFilesIn, type Replacement, writeDefinition, writeReplacement } from './replacement.ts';
import { sideOf } from './side.ts';

/** The steps of a replacement, in this order. */
export type ReplaceStep = 'stop' | 'keep' | 'fill' | 'verify' | 'write-definition' | 'start';

export type ReplaceProgress = Progress | { readonly kind: 'step'; readonly step: ReplaceStep };

export interface ReplaceOptions {
  readonly installation: Installation;
  readonly command: Replacement['command'];
  readonly from: Plan;
  readonly to: Plan;
  /** The new text of svc.yaml; null if it stays. */
  readonly definition: string | null;
  /** The content to fill: the kinds that get another place, or other records. */
  readonly kinds: Kinds;
  /** The content to keep: all that the new data may change. */
  readonly kept: Kinds;
  /** Parts whose own folders get another place. */
  readonly folders: readonly string[];
  /** The archive to fill from; null: the one that is kept. */
  readonly archive: ArchiveFile | null;
  /** The secrets to put in the place of the installation's own. */
  readonly secrets: ArchiveContent['secrets'];
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
  const { installation, from, to, command, kinds, folders, wasRunning, env, signal, onProgress } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const step = (name: ReplaceStep) => onProgress({ kind: 'step', step: name });
  const startedAt = new Date().toISOString();
  let state: Replacement = {
    ...{ command, step: 'keeping', startedAt, wasRunning, folders: [...folders], moved: [] },
    ...{ from: sideOf(from.definition), to: sideOf(to.definition) },
    kept: `data/before-${command}-${startedAt.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')}`,
    replaced: options.kept,
    archived: noKinds,
    elsewhere: kinds.graph
      ? { left: graphElsewhere(from.definition), filled: graphElsewhere(to.definition) }
      : { left: null, filled: null },
  };
  const note = (next: Partial<Replacement>) => {
    state = { ...state, ...next };
    writeReplacement(installation, state);
  };
  note({});
  try {
    step('stop');
    await stopPlatform(installation, onProgress);
    signal.throwIfAborted();
    const data = acquireLock(installation, 'platform');
    try {
      const asking = { env, signal, onNotice };
      const places = await placesOf(from, asking);
      step('keep');
      const archived = await keep(options, { places, state }).catch(async (error: unknown) => {
        throw command === 'restore' && !signal.aborted ? await notKept(error, places) : error;
      });
      note({ archived });
      signal.throwIfAborted();
      note({ step: 'filling' });
      step('fill');
      const empty = emptying(state, kinds);
      await empty(places);
      const target = { plan: to, places: await placesOf(to, asking), empty, folders, signal };
      const keptDir = keptDirOf(installation, state);
      if (command === 'restore' && kinds.graph) await emptyElsewhere(to);
      const source = options.archive ?? { file: keptFilesIn(keptDir).archive, passphrase: null };
      const filled = options.archive === null ? both(kinds, state.archived) : kinds;
      const onFilled = () => step('verify');
      const moved = await fillPlaces({ ...target, kinds: filled, archive: source, keptDir, onFilled });
      signal.throwIfAborted();
      step('write-definition');
      putSecrets(installation, options.secrets);
      if (options.definition !== null) writeDefinition(installation, options.definition);
      // Nobody goes back to the number of nodes before: svc.yaml asks for the new one.
      note({ step: command === 'nodes' ? 'confirming' : 'waiting', moved: [...moved] });
    } finally {
      data.release();
    }
    return state;
  } catch (error) {
    await takeBack(installation, state, { env, onNotice }).catch((failure: unknown) => {
      onNotice(`The data before is in ${state.kept} and was not put back yet: ${inWords(failure)} Try again: svc up`);
    });
    throw error;
  }
}

/** Data that cannot be read is a reason to restore a backup. */
export async function notKept(cause: unknown, places: Places): Promise<SvcError> {
  const { code } = toSvcError(cause);
  return new SvcError(code, `The data that is there can't be kept: ${inWords(cause)}`, {
    hint: `To restore without it: ${places.clearHint(await places.list())}`,
    cause,
  });
}

/** Writes the data before into the kept folder. Returns its kinds of content. */
async function keep(
  { installation, from, definition, secrets, folders, signal }: ReplaceOptions,
  { places, state }: { readonly places: Places; readonly state: Replacement },
): Promise<Kinds> {
  const keptDir = keptDirOf(installation, state);
  const files = keptFilesIn(keptDir);
  mkdirSync(keptDir, { mode: 0o700 });
  if (definition !== null) {
    writeDurably(files.definition, readFileSync(installation.definitionFile, 'utf8'));
    writeDurably(files.newDefinition, definition);
  }
  keepSecrets(installation, files.secretsDir, secrets);
  const opening = { kinds: state.replaced, to: 'read' } as const;
  await using place = await places.open(opening);
  const isThere = Object.values(place.there).includes(true);
  const kinds = !isThere
    ? noKinds
    : await withStore({ plan: from, place, ...opening, signal }, async (store) => {
        const head: ArchiveHead = {
          ...{ svc: 'backup', format: formatVersion, version: ownVersion(), createdAt: state.startedAt },
          encryptionKey: fingerprintOf(secretFilesOf(installation).encryptionKey),
          bus: store.bus === null ? 'none' : 'exact',
        };
        await using writer = new ArchiveWriter(openSync(files.archive, 'wx', 0o600), head);
        await writeArchive(store, { file: files.archive, passphrase: null, writer, signal });
        return { bus: store.bus !== null, graph: store.graph !== null, blobs: store.blobs !== null };
      });
  for (const part of folders) await places.copyOut(part, join(keptDir, part));
  syncFolder(keptDir);
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
