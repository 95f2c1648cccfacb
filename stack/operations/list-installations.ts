import { setTimeout as pause } from 'node:timers/promises';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { toSvcError } from '../../services/contracts/errors.ts';
import type { Urls } from '../lifecycle/urls.ts';
import { refuseForeignFolder } from '../place/refuse-foreign-folder.ts';
import { readDefinition } from '../settings/check.ts';
import { fileFailure } from '../state/file-failure.ts';
import { installationIn } from '../state/installation.ts';
import {
  forgetInstallation,
  type KnownInstallation,
  knownInstallations,
  noteInstallation,
} from '../state/known-installations.ts';
import { type MarkedProcess, markedProcesses } from '../state/process-mark.ts';
import { contentOf, findFolder, inWords } from './removed-installation.ts';
import { status } from './status.ts';

/** An installation of this user on this machine. */
export interface ListedInstallation {
  readonly id: string;
  readonly name: string | null;
  readonly dir: string | null;
  /** `gone`: its folder is gone, and something of it still runs. `unknown`: it could not be asked. */
  readonly state: 'running' | 'degraded' | 'stopped' | 'gone' | 'unknown';
  /** Null where svc.yaml is gone or cannot be read. */
  readonly urls: Urls | null;
  /** What still runs of a gone one, or why the state is unknown. */
  readonly reason: string | null;
}

export interface InstallationList {
  readonly installations: readonly ListedInstallation[];
  /** Entries that were removed from the list, because nothing of the installation is left. */
  readonly forgotten: readonly KnownInstallation[];
}

interface Listing {
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/** A platform that does not answer must not hold the others. */
const answerTimeoutMs = 6_000;
/** At once: each asks all its services. */
const atOnce = 8;
/** For all of them. The rest is listed without a state. */
const listTimeoutMs = 20_000;

/** Finds the listed installations of this user, and those whose processes run. */
export async function listInstallations({ env, signal }: Listing): Promise<InstallationList> {
  const listed = new Map(knownInstallations(env).map((one) => [one.id, one]));
  const marked = Map.groupBy(markedProcesses(), ({ id }) => id);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
  const waiting = [...new Set([...listed.keys(), ...marked.keys()])];
  const installations: ListedInstallation[] = [];
  const forgotten: KnownInstallation[] = [];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const known = { id, listed: listed.get(id) ?? null, left: marked.get(id) ?? [] };
      const found = await describeInTime(known, { env, signal: deadline });
      if ('state' in found) installations.push(found);
      else forgotten.push(found);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  signal.throwIfAborted();
  for (const { id } of forgotten) forgetInstallation(id, env);
  const orderOf = ({ dir, id }: ListedInstallation) => `${dir ?? ''}\0${id}`;
  return { installations: installations.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1)), forgotten };
}

interface Known {
  readonly id: string;
  /** Its entry; null for one that only its processes name. */
  readonly listed: KnownInstallation | null;
  readonly left: readonly MarkedProcess[];
}

async function describeInTime(known: Known, { env, signal }: Listing): Promise<ListedInstallation | KnownInstallation> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]);
  const { id, listed } = known;
  const unknown = (reason: string) => {
    const { name = null, dir = null } = listed ?? {};
    return { id, name, dir, state: 'unknown' as const, urls: null, reason };
  };
  const tooLate = `It did not answer within ${answerTimeoutMs / 1000} s.`;
  const ended = new AbortController();
  try {
    return await Promise.race([
      describe(known, { env, signal: late }),
      pause(answerTimeoutMs, unknown(tooLate), { signal: AbortSignal.any([signal, ended.signal]) }),
    ]);
  } catch (error) {
    return unknown(late.aborted ? tooLate : (fileFailure(error) ?? toSvcError(error)).message);
  } finally {
    ended.abort();
  }
}

/** Returns the entry itself where nothing of the installation is left. */
async function describe(known: Known, listing: Listing): Promise<ListedInstallation | KnownInstallation> {
  const { id, listed, left } = known;
  const dir = findFolder(id, listed, left);
  if (dir !== null) {
    // The list follows a folder that was moved while its processes ran.
    if (listed !== null && listed.dir !== dir) noteInstallation({ ...listed, dir }, listing.env);
    return await describeFolder(id, dir, listing);
  }
  const place = listed?.dir ?? null;
  const content = place === null ? 'nothing' : contentOf(place, id);
  const containers = await findContainers(known);
  const running = [...(left.length === 0 ? [] : [inWords(left)]), ...containers.map((name) => `the container ${name}`)];
  const { name = null } = listed ?? {};
  if (running.length > 0) {
    const folder = content === 'another' ? 'Its folder holds another installation now' : 'Its folder is gone';
    const reason = `${folder}, and these still run: ${running.join(', ')}.`;
    return { id, name, dir: place ?? left[0]?.dir ?? null, state: 'gone', urls: null, reason };
  }
  if (listed !== null && content !== 'unclear') return listed;
  const reason = 'svc.yaml in its folder cannot be read, or has no id.';
  return { id, name, dir: place, state: 'unknown', urls: null, reason };
}

async function describeFolder(id: string, dir: string, { signal }: Listing): Promise<ListedInstallation> {
  const installation = installationIn(dir);
  refuseForeignFolder(installation, 'svc status');
  const { name } = readDefinition(installation.definitionFile);
  const { state, urls } = await status({ installation, signal });
  return { id, name, dir, state, urls, reason: null };
}

async function findContainers({ id, listed }: Known): Promise<readonly string[]> {
  if (listed === null || listed.docker === null) return [];
  const { findLeftContainers } = await import('../engines/docker/removed-installation.ts');
  return await findLeftContainers(listed.docker, id);
}
