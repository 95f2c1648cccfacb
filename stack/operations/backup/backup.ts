import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Secret } from '../../../services/contracts/secret.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, writeArchive } from '../../content/archive.ts';
import { allKinds } from '../../content/place.ts';
import { withStore } from '../../content/store.ts';
import { isUp } from '../../engines/engine-of.ts';
import type { Places } from '../../engines/places.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { isCode } from '../../machine/is-code.ts';
import type { Plan } from '../../plan/plan.ts';
import { syncFolder } from '../../state/durable-file.ts';
import { refuseCopy } from '../../state/find-original.ts';
import { ensurePrivateFolder } from '../../state/folder.ts';
import { diskOf, refuseWithoutRoom } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { archivedSecretsOf } from '../replace/archived-secrets.ts';
import { type PlacesAccess, placesOf } from '../replace/fill-places.ts';
import { interruptionOf, readReplacement } from '../replace/replacement.ts';

export interface BackupOptions extends PlacesAccess {
  readonly installation: Installation;
  /** The archive, which must not be there. */
  readonly file: string;
  /** Encrypts the archive, which then has the secrets of the platform; null: it has none. */
  readonly passphrase: Secret | null;
}

/** Writes the content of one moment into an archive, which gets its name after it was read again. */
export async function backup(options: BackupOptions): Promise<ArchiveContent & { readonly sizeBytes: number }> {
  const { installation, file, env, signal, onNotice } = options;
  ensurePrivateFolder(installation.stateDir);
  using _lock = acquireLock(installation, 'command');
  const draft = `${file}.part`;
  refuseCopy(installation);
  const interruption = interruptionOf(readReplacement(installation));
  if (interruption !== null) {
    throw new SvcError('conflict', interruption, { hint: 'Start the platform once, then back it up: svc up' });
  }
  if (existsSync(file)) throw existing(file);
  if (!existsSync(dirname(file))) throw new SvcError('not_found', `There is no folder "${dirname(file)}".`);
  const plan = readPlan(installation);
  const places = await placesOf(plan, { env, signal, onNotice });
  const { graphBytes, fileBytes, busBytes } = await places.measure();
  // The compressed archive is smaller. The size of data on other machines is not known here.
  refuseWithoutRoom(diskOf(dirname(file)), graphBytes + fileBytes + busBytes, 'a backup');
  // Only a file that this backup has made is removed again.
  await using handle = await open(draft, 'wx', 0o600).catch((thrown: unknown) => {
    throw isCode(thrown, 'EEXIST') ? existing(draft) : cannotWrite(draft, thrown);
  });
  try {
    const content = await write({ ...options, file: draft }, { plan, places, handle });
    renameSync(draft, file);
    syncFolder(dirname(file));
    return { ...content, sizeBytes: statSync(file).size };
  } catch (thrown) {
    throw isCode(thrown, 'ENOSPC') ? cannotWrite(draft, thrown) : thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}

function cannotWrite(file: string, cause: unknown): SvcError {
  return new SvcError('unavailable', `"${file}" can't be written: ${inWords(cause)}.`, {
    hint: 'Name a file in another folder: svc backup FILE',
    cause,
  });
}

async function write(
  { installation, file, passphrase, signal }: BackupOptions,
  { plan, places, handle }: { readonly plan: Plan; readonly places: Places; readonly handle: FileHandle },
): Promise<ArchiveContent> {
  const isRunning = isUp(installation);
  const { persistentMessaging } = plan.definition.bus;
  const createdAt = new Date().toISOString();
  const bus = !persistentMessaging ? 'none' : isRunning ? 'approximate' : 'exact';
  const secrets = passphrase === null ? null : archivedSecretsOf(installation);
  const kinds = { ...allKinds, bus: persistentMessaging };
  return await withStore({ plan, places, kinds, to: 'read', isRunning, signal }, async (store) => {
    if (store.graph === null) {
      throw new SvcError('not_found', `The platform in "${installation.dir}" has no data yet.`, {
        hint: 'Start it once: svc up',
      });
    }
    return await writeArchive(store, { plan, createdAt, bus, file, handle, secrets, passphrase, signal });
  });
}

function existing(file: string): SvcError {
  return new SvcError('conflict', `"${file}" is there already, and a backup replaces nothing.`, {
    hint: 'Name another file, or remove that one.',
  });
}
