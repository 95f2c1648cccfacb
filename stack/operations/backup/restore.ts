import { SvcError } from '../../../services/contracts/errors.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, countsIn, readArchive } from '../../content/archive.ts';
import { allKinds } from '../../content/place.ts';
import { isUp } from '../../engines/engine-of.ts';
import type { Places } from '../../engines/places.ts';
import { refuseUnreadable, refuseWithoutMajority } from '../../place/losses.ts';
import {
  fingerprintOf,
  fingerprintOfText,
  hasSecret,
  readSecret,
  recordFingerprint,
  secretFilesOf,
} from '../../secrets/secrets.ts';
import { readDefinition } from '../../settings/check.ts';
import { type Definition, hasOtherBus } from '../../settings/definition.ts';
import { refuseWithoutRoom } from '../../state/free-space.ts';
import { checkArchivedSecrets } from '../replace/archived-secrets.ts';
import { type PlacesAccess, placesOf, prepareTarget } from '../replace/fill-places.ts';
import { notKept, replaceData } from '../replace/replace.ts';
import { forgetReplacement, refuseWaiting } from '../replace/replacement.ts';
import { type ReplacingOptions, withReplacing } from '../replace/with-replacing.ts';

export interface RestoreOptions extends Omit<ReplacingOptions, 'done'> {
  readonly file: string;
  /** The key that the archive's secrets are encrypted with; null: the one in secrets/. */
  readonly encryptionKeyFile: string | null;
  /** Asked before data is replaced. Throws to decline. */
  readonly confirm: (plan: RestorePlan) => Promise<void>;
  readonly passphrase: Secret | null;
}

export interface RestorePlan {
  readonly name: string;
  readonly content: ArchiveContent;
  readonly isUp: boolean;
  readonly neededBytes: number;
  readonly freeBytes: number | null;
}

/** Restores an archive, after checking all of it. The data before is kept until the restore is confirmed. */
export async function restore(options: RestoreOptions) {
  const { installation, env, signal, onProgress } = options;
  return await withReplacing({ ...options, done: 'All was restored' }, async (access, begin) => {
    refuseWaiting(installation);
    const content = await readArchive(options, signal);
    const secrets = secretsFor(options, content);
    const { plan, isThere } = await planRestore(options, content, access);
    // A bus in memory keeps nothing, and an external one keeps its own records.
    const { definition } = plan;
    const kinds = { ...allKinds, bus: definition.bus.persistentMessaging && !hasOtherBus(definition) };
    const wasRunning = await begin(plan);
    const replacement = await replaceData({
      ...{ command: 'restore', from: plan, to: plan, definition: null, kinds },
      ...{ restored: { ...options, secrets }, wasRunning, env, signal, onProgress },
    });
    recordFingerprint(installation);
    if (!isThere) forgetReplacement(installation, replacement);
    return { content, kept: isThere ? replacement.kept : null };
  });
}

/** Finds everything that is wrong before anything is changed, and asks if there is data to replace. */
async function planRestore({ installation, confirm }: RestoreOptions, content: ArchiveContent, access: PlacesAccess) {
  const definition = readDefinition(installation.definitionFile);
  const plan = await prepareTarget(installation, definition, access);
  const places = await placesOf(plan, access);
  const isThere = (await places.list()).length > 0;
  if (isThere) await refuseLosses(places);
  const { disk, graphBytes, fileBytes, busBytes } = await places.measure();
  const neededBytes = bytesOf(content, definition) + graphBytes + fileBytes + busBytes;
  refuseWithoutRoom(disk, neededBytes, 'a restore that keeps the data before');
  const { freeBytes } = disk;
  if (isThere) await confirm({ name: definition.name, content, isUp: isUp(installation), neededBytes, freeBytes });
  return { plan, isThere };
}

/** The data before a restore is kept: nodes of Dgraph without a majority cannot be read. */
async function refuseLosses(places: Places): Promise<void> {
  const losses = await places.findLosses();
  refuseUnreadable([...losses.keptOut, ...losses.needed]);
  try {
    refuseWithoutMajority(losses);
  } catch (error) {
    throw await notKept(error, places);
  }
}

/** Measured: with its indexes, a record takes less than this. A Dgraph without records takes its first bytes. */
const room = {
  sqlite: { firstBytes: 0, recordBytes: 2048 },
  dgraph: { firstBytes: 64 * 1024 * 1024, recordBytes: 8192 },
};

function bytesOf(content: ArchiveContent, definition: Definition): number {
  const { firstBytes, recordBytes } = room[definition.graph];
  const { usage, sessions, files } = countsIn(content);
  return firstBytes + ((content.graph[0]?.count ?? 0) + usage + sessions) * recordBytes + files.bytes;
}

/** The secrets to put in the place of the installation's own. */
function secretsFor(options: RestoreOptions, { head, secrets }: ArchiveContent): ArchiveContent['secrets'] {
  if (secrets.size === 0) {
    const key = keyFor(options, head);
    return new Map(key === null ? [] : [['encryptionKey', new Secret(key)]]);
  }
  checkArchivedSecrets(options.installation, secrets);
  if (fingerprintOfText(secrets.get('encryptionKey')?.reveal() ?? '') === head.encryptionKey) return secrets;
  throw new SvcError('invalid_input', `The encryption key in "${options.file}" is not that of its records.`, {
    hint: 'Use another backup.',
  });
}

/** The key to put in the place of the installation's own; null where that is the right one. */
function keyFor(
  { installation, file, encryptionKeyFile }: RestoreOptions,
  head: ArchiveContent['head'],
): string | null {
  const own = secretFilesOf(installation).encryptionKey;
  if (encryptionKeyFile === null) {
    if (hasSecret(own) && fingerprintOf(own) === head.encryptionKey) return null;
    throw new SvcError(
      'forbidden',
      `The secrets in "${file}" are encrypted with another key than secrets/encryption.key of this installation (fingerprint ${head.encryptionKey}).`,
      { hint: 'Name the key of the platform that was backed up: --encryption-key-file secrets/encryption.key' },
    );
  }
  const key = readKey(encryptionKeyFile);
  if (fingerprintOfText(key) === head.encryptionKey) return key;
  throw new SvcError(
    'forbidden',
    `"${encryptionKeyFile}" is not the key that the secrets in "${file}" are encrypted with (fingerprint ${head.encryptionKey}).`,
    { hint: 'Name the secrets/encryption.key of the platform that was backed up.' },
  );
}

/** Reads the file once: it may be a pipe, such as <(pass show key). */
function readKey(file: string): string {
  try {
    return readSecret(file);
  } catch (thrown) {
    throw new SvcError('invalid_input', `"${file}" cannot be read: ${inWords(thrown)}.`, { cause: thrown });
  }
}
