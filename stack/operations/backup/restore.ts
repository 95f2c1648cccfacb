import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { type ArchiveContent, checkArchive, fillFromArchive } from '../../content/archive.ts';
import { engineFor } from '../../engines/engine-of.ts';
import { planner, portWishesOf, readPlan } from '../../engines/plan-of.ts';
import { makeReady } from '../../lifecycle/make-ready.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import { sizeText } from '../../machine/size-text.ts';
import { checkPlace, settlePlace } from '../../place/settle-place.ts';
import type { Plan } from '../../plan/plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import {
  fingerprintOf,
  fingerprintOfText,
  hasSecret,
  readSecret,
  recordFingerprint,
  secretFilesOf,
} from '../../secrets/secrets.ts';
import { readDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import { hasOwnBus } from '../../settings/has-own-bus.ts';
import { hasOwnGraph } from '../../settings/has-own-graph.ts';
import { graphIn } from '../../state/data-files.ts';
import { syncFolder, writeDurably } from '../../state/durable-file.ts';
import { bytesLeft } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { ensurePrivateFolder } from '../../state/private-folder.ts';
import { withSide } from '../move/side-content.ts';
import { refuseBetweenSides } from './between-sides.ts';
import { draftOf, noteProcess, settleRestore } from './unfinished-restore.ts';

export interface RestoreOptions {
  readonly installation: Installation;
  readonly file: string;
  /** The key that the archive's secrets are encrypted with; null: the one in secrets/. */
  readonly encryptionKeyFile: string | null;
  /** Of the shell that typed the command. */
  readonly env: EnvRecord;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Restores an archive into an installation without data, after checking all of the archive. The graph gets its name last, so a killed restore leaves
 * no data and can be repeated.
 */
export async function restore(options: RestoreOptions): Promise<ArchiveContent> {
  const { installation, file, onNotice, signal } = options;
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  try {
    const definition = readDefinition(installation.definitionFile);
    refuseOtherPlaces(definition);
    refuseBetweenSides(installation);
    checkPlace(installation);
    const data = acquireLock(installation, 'platform');
    try {
      await settleRestore(installation);
      refuseData(installation, definition);
      const content = await checkArchive(file, signal);
      const key = keyFor(options, content);
      refuseWithoutRoom(installation, definition, content);
      const plan = await planOf(options, definition);
      settlePlace(installation, onNotice);
      await makeReady(plan, onNotice);
      await fill(options, plan, content);
      signal.throwIfAborted();
      if (key !== null) writeDurably(secretFilesOf(installation).encryptionKey, key);
      if (hasOwnGraph(definition)) writeLease(installation, plan.ports, portWishesOf(definition));
      putInPlace(installation, definition);
      recordFingerprint(installation);
      return content;
    } finally {
      await settleRestore(installation);
      data.release();
    }
  } finally {
    lock.release();
  }
}

/** What a restore does not fill is filled by a move afterwards. */
function refuseOtherPlaces(definition: Definition): void {
  const { engine, topology, graph } = definition;
  const refuse = (what: string) => {
    throw new SvcError('unsupported', `A restore fills data of this machine, and ${what}.`, {
      hint: 'Restore into an installation with engine: process and its own bus and graph. Then move it: svc move',
    });
  };
  if (engine === 'docker') refuse('engine: docker keeps it in volumes of Docker');
  if (graph === 'dgraph' && !hasOwnGraph(definition)) refuse('graphdb.url names a Dgraph that others run');
  if (topology === 'distributed' && !hasOwnBus(definition)) refuse('bus.servers names a bus that others run');
}

/** Nodes of Dgraph remember the ports at which they were filled, so these are chosen as a start chooses them. */
async function planOf({ installation, env, onNotice }: RestoreOptions, definition: Definition): Promise<Plan> {
  if (definition.topology === 'embedded') return readPlan(installation);
  const engine = await engineFor(definition);
  return await preparePlan({
    installation,
    planner,
    check: () => engine.check(definition, env),
    ownsPort: () => false,
    avoid: new Set(),
    onNotice,
  });
}

/** Fills a draft of the data, which is compared with the archive. */
async function fill({ installation, file, env, signal }: RestoreOptions, plan: Plan, expected: ArchiveContent) {
  const dir = draftOf(installation);
  mkdirSync(dir, { mode: 0o700 });
  const wanted = { bus: plan.definition.bus.persistentMessaging, graph: true, blobs: true };
  const born = noteProcess(installation);
  await withSide({ plan, dir, daemon: null, wanted, to: 'fill', env, born, signal }, async ({ bus, graph, blobs }) => {
    if (graph === null) throw new Error('a side that is to be filled has a graph');
    await fillFromArchive(file, { bus, graph, blobs }, { expected, signal });
  });
}

function putInPlace(installation: Installation, { graph }: Definition): void {
  const { dataDir } = installation;
  const draft = draftOf(installation);
  const graphPath = graphIn(draft, graph);
  const others = readdirSync(draft).filter((name) => join(draft, name) !== graphPath);
  for (const name of others) {
    // A restore that was killed here leaves files and a bus that no graph refers to.
    rmSync(join(dataDir, name), { recursive: true, force: true });
    renameSync(join(draft, name), join(dataDir, name));
  }
  syncFolder(dataDir);
  renameSync(graphPath, graphIn(dataDir, graph));
  syncFolder(dataDir);
}

function refuseData({ dir, dataDir }: Installation, { graph }: Definition): void {
  const path = graphIn(dataDir, graph);
  // SQLite would apply the log of a removed database to the restored one.
  if (![path, `${path}-wal`, `${path}-shm`].some((file) => existsSync(file))) return;
  throw new SvcError(
    'conflict',
    `The platform in "${dir}" has data, and this version restores into an empty one only.`,
    {
      hint: 'Make one, and restore there: svc init DIR, then svc restore FILE --dir DIR',
    },
  );
}

/** The key to put in the place of the installation's own; null where that is the right one. */
function keyFor({ installation, file, encryptionKeyFile }: RestoreOptions, { head }: ArchiveContent): string | null {
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
    throw new SvcError('invalid_input', `"${file}" can't be read: ${inWords(thrown)}`, { cause: thrown });
  }
}

/** Measured: with its indexes, a record takes less than this. A Dgraph without records takes its first bytes. */
const room = {
  sqlite: { firstBytes: 0, recordBytes: 2048 },
  dgraph: { firstBytes: 64 * 1024 * 1024, recordBytes: 8192 },
};

function refuseWithoutRoom({ dataDir }: Installation, definition: Definition, content: ArchiveContent): void {
  const { firstBytes, recordBytes } = room[definition.graph];
  const { graph, usage, sessions, files } = content;
  const records = (graph[0]?.count ?? 0) + usage + sessions;
  const neededBytes = firstBytes + records * recordBytes + files.bytes;
  const freeBytes = bytesLeft(statfsSync(dataDir), process.getuid?.() === 0);
  if (freeBytes === null || freeBytes >= neededBytes) return;
  throw new SvcError(
    'unavailable',
    `"${dataDir}" has ${sizeText(freeBytes)} left, and what is restored needs about ${sizeText(neededBytes)}.`,
    { hint: `Free some space and try again: df -h "${dataDir}" tells how much there is.` },
  );
}
