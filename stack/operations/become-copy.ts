import { readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { randomText } from '../../services/contracts/ids.ts';
import { portWishesOf } from '../engines/plan-of.ts';
import { isFree } from '../machine/is-free.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import type { Settling, StartEmpty } from '../place/losses.ts';
import { markData } from '../place/settle-place.ts';
import { claimPorts } from '../ports/claim-ports.ts';
import { leasedPorts, writeLease } from '../ports/port-lease.ts';
import { checkSecrets } from '../secrets/ensure-folders.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { checkDefinition } from '../settings/check.ts';
import { type Definition, hasOtherBus } from '../settings/definition.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { readContainers } from '../state/containers-record.ts';
import { findOriginal, readId } from '../state/find-original.ts';
import { findRunning } from '../state/find-running.ts';
import { ensurePrivateFolder } from '../state/folder.ts';
import type { Installation } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { keepInManifest } from '../state/manifest.ts';
import { isSameFolder, readPlace, writePlace } from '../state/place-record.ts';
import { commandsToEnd, readReplacement, replacementName, writeDefinition } from './replace/replacement.ts';

/**
 * Gives a copied folder an id, keys and ports of its own. The record of its place is written last: until then the folder counts as a copy,
 * and a killed command is repeated. Called by a command that has the lock. `startEmpty` is asked where the data is in volumes of Docker.
 */
export async function becomeCopy(
  installation: Installation,
  { startEmpty, onNotice }: Omit<Settling, 'runningPid'>,
): Promise<void> {
  if (!mayBecomeCopy(installation)) {
    onNotice('--as-copy changed nothing: this folder is not a copy.');
    return;
  }
  const before = readFileSync(installation.definitionFile, 'utf8');
  const definition = checkDefinition(before, installation.definitionFile);
  refuseShared(installation, definition);
  const running = findRunning(installation);
  if (running !== null) {
    throw new SvcError('conflict', `A platform (pid ${running.pid}) runs in "${installation.dir}".`, {
      hint: 'Stop it first: svc down',
    });
  }
  // Data of another encryption key is refused before anything is changed.
  checkSecrets(installation, definition);
  await refuseVolumes(installation, startEmpty);
  for (const dir of [installation.dataDir, installation.stateDir]) ensurePrivateFolder(dir);
  const { text, ports, notice: aboutPorts } = await newPorts(installation, definition, before);
  const place = readPlace(installation);
  const id = randomText(16).toLowerCase();
  const name = nameOfCopy(definition, place?.id);
  const own = replaceScalar(replaceScalar(text, ['id'], id), ['name'], name);
  const changed = checkDefinition(own, installation.definitionFile);
  const kept = (place?.data ?? []).filter(({ path }) => !busFiles.some((name) => path === join('data', name)));
  using _lock = acquireLock(installation, 'platform');
  removeKeys(installation);
  removeState(installation);
  markData(installation, { id, name });
  writeLease(installation, ports, portWishesOf(changed));
  writeDefinition(installation, own);
  writePlace(installation, id, kept);
  onNotice(
    `This copy is the installation "${name}" (id ${id}) now, with signing keys of its own. It keeps the data and API keys that were copied, and has no sessions.`,
  );
  for (const notice of [aboutPorts, ...publicNames(changed)]) onNotice(notice);
}

/** An installation whose recorded place is this folder keeps its identity. */
function mayBecomeCopy(installation: Installation): boolean {
  const place = readPlace(installation);
  const id = readId(installation.dir);
  return (
    findOriginal(installation) !== null ||
    place === null ||
    place.id !== id ||
    place.dir !== realpathSync(installation.dir)
  );
}

/** Refuses a copy that would work on something of the original. */
function refuseShared(installation: Installation, definition: Definition): void {
  const original = findOriginal(installation)?.dir ?? null;
  const { dataDir, stateDir, secretsDir } = installation;
  for (const [name, dir] of Object.entries({ data: dataDir, state: stateDir, secrets: secretsDir })) {
    if (original === null || !isSameFolder(join(original, name), dir)) continue;
    throw new SvcError('conflict', `"${dir}" is a link to a folder of the original.`, {
      hint: 'Copy the target of the link: cp -aL',
    });
  }
  const waiting = readReplacement(installation);
  if (waiting !== null) {
    throw new SvcError('conflict', `The folder was copied too early. ${replacementName(waiting)} had not ended.`, {
      hint: `In the original: ${commandsToEnd(waiting)}. Then copy its folder again.`,
    });
  }
  const { graph } = definition;
  if (graph !== 'dgraph' && !hasOtherBus(definition)) return;
  const what =
    graph === 'dgraph'
      ? 'A copy with graph: dgraph is not supported: both installations would use the same nodes.'
      : 'A copy with bus.servers is not supported: both installations would use the same bus.';
  throw new SvcError('unsupported', what, {
    hint: 'Copy a platform with graph: sqlite and a bus of its own (svc move --graph sqlite in the original).',
  });
}

async function refuseVolumes(installation: Installation, startEmpty: StartEmpty | null): Promise<void> {
  const volumes = readContainers(installation)?.volumes ?? [];
  if (volumes.length === 0) return;
  if (startEmpty !== null) return startEmpty(volumes.map((name) => `the volume ${name} of the original`));
  throw new SvcError(
    'not_found',
    `The data of the original is in volumes of Docker (${volumes.join(', ')}), which the folder does not hold.`,
    { hint: 'To start the copy without data: svc up --as-copy --start-empty' },
  );
}

/** `svc up` makes new ones. The public half goes first: alone it would be taken for the rest of a lost pair. */
function removeKeys(installation: Installation): void {
  const files = secretFilesOf(installation);
  const identity = [files.jwtPublicKey, files.jwtPrivateKey, files.remoteMcpKey, files.runtimeKey];
  const bus = [files.busCalloutSeed, files.busSystemSeed, files.busIssuerSeed, files.busRoutes];
  for (const file of [...identity, ...bus]) rmSync(file, { force: true });
}

const keptState = /^(\.gitignore|place\.json|manifest\.json|ports\.json|command\..*|compile-cache)$/;

/** All that the records name belongs to the original, and so do its sessions. */
function removeState(installation: Installation): void {
  const { dataDir, stateDir } = installation;
  keepInManifest(installation, ({ kind }) => kind === 'file' || kind === 'folder');
  for (const name of readdirSync(stateDir)) {
    if (!keptState.test(name)) rmSync(join(stateDir, name), { recursive: true, force: true });
  }
  // With Dgraph the bus keeps files of skills, and such a copy is refused.
  for (const name of busFiles) rmSync(join(dataDir, name), { recursive: true, force: true });
  for (const name of readdirSync(dataDir)) {
    if (/^runtime(-\d+)?$/.test(name)) rmSync(join(dataDir, name, 'children'), { recursive: true, force: true });
  }
}

const busFiles = ['bus.sqlite', 'bus.sqlite-wal', 'bus.sqlite-shm', aloneFolder, clusterFolder];

/** A different name prevents confirming an action on the wrong installation. A killed command may have given it already. */
function nameOfCopy({ id, name }: Definition, recordedId: string | undefined): string {
  const ending = '-copy';
  if (recordedId !== id && name.endsWith(ending)) return name;
  return `${name.slice(0, 63 - ending.length)}${ending}`;
}

function publicNames({ public: { host }, publicUrls }: Definition): readonly string[] {
  const urls = Object.entries(publicUrls).flatMap(([field, url]) =>
    url === 'auto' || url === undefined ? [] : [`publicUrls.${field} (${url})`],
  );
  const all = [...(host === undefined ? [] : [`public.host (${host})`]), ...urls];
  return all.length === 0
    ? []
    : [`svc.yaml still has public addresses of the original: ${all.join(', ')}. Change them.`];
}

/** Another free port for each, and `auto` in svc.yaml. A single node of NATS keeps a number, for runtimes elsewhere. */
async function newPorts(installation: Installation, definition: Definition, text: string) {
  const wishes = portWishesOf(definition);
  const before = leasedPorts(installation, wishes);
  const beside = wishes.flatMap(({ name, beside = [] }) => beside.map((distance) => (before[name] ?? 0) + distance));
  const { ports } = await claimPorts({
    wishes: wishes.map((wish) => ({ ...wish, wanted: 'auto' as const })),
    leased: before,
    avoid: new Set([...Object.values(before), ...beside]),
    isFree: (port, host) => isFree(host, port),
    holderOf: () => 'the original',
  });
  const named = new Set(wishes.filter(({ wanted }) => wanted !== 'auto').map(({ place }) => place));
  const valueAt = (place: string) => {
    const [only, ...others] = wishes.filter((wish) => wish.place === place);
    return only === undefined || others.length > 0 || !place.startsWith('bus.') ? 'auto' : String(ports[only.name]);
  };
  const changed = [...named].reduce((yaml, place) => replaceScalar(yaml, place.split('.'), valueAt(place)), text);
  const moved = wishes.map(({ name }) => `${name} ${before[name]} → ${ports[name]}`);
  return { ports, text: changed, notice: `Ports of the copy: ${moved.join(', ')}.` };
}
