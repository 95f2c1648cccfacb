import { readPlan } from '../engines/plan-of.ts';
import type { Installation } from '../installation.ts';
import { findOriginal, nameOfOriginal } from '../place/find-original.ts';
import { lossOf } from '../place/loss-of.ts';
import { describeFullDisk } from '../state/free-space.ts';
import { readFailure, readRecord } from '../state/platform-record.ts';
import { noEnds, type Status } from './platform-status.ts';
import { noContent } from './read-content.ts';
import { transition } from './transition.ts';
import { findUnwantedEnd } from './unwanted-end.ts';
import { urlsOf } from './urls.ts';

/** Of a platform that does not run: what it would be, and how it ended. */
export async function stoppedStatus(installation: Installation): Promise<Status> {
  const { definition, addresses, parts } = readPlan(installation);
  const original = findOriginal(installation);
  const failure = original === null ? readFailure(installation) : null;
  const ended = original === null ? await findUnwantedEnd(installation) : null;
  const left = original === null ? (readRecord(installation)?.services ?? []) : [];
  const lossOfPart = (name: string) =>
    definition.engine === 'process' && original === null ? lossOf(installation, name) : null;
  // What a record still says of a service is what it was before its process ended.
  const stateOf = (name: string) => transition(left.find((one) => one.name === name)?.state ?? 'stopped', 'ended');
  return {
    state: 'stopped',
    topology: definition.topology,
    engine: definition.engine,
    version: null,
    urls: urlsOf(addresses),
    supervisor: null,
    services: parts.map(({ name, url }) => ({
      name,
      state: stateOf(name),
      health: 'red',
      url,
      ...(definition.engine === 'docker' ? { container: null } : { pid: null }),
      since: ended?.at ?? null,
      memoryBytes: null,
      reason:
        lossOfPart(name) ?? (failure?.service === name || failure?.service === 'platform' ? failure.message : null),
      ...noEnds,
    })),
    ended,
    fullDisk: describeFullDisk(installation),
    copyOf: nameOfOriginal(original),
    ...noContent,
  };
}
