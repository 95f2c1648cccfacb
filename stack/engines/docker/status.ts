import type { ContainerInspectInfo } from 'dockerode';
import { z } from 'zod';
import { type PartState, type Status, stateOfPlan, statusOf, stoppedPart } from '../../lifecycle/platform-status.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import { findOriginal } from '../../state/find-original.ts';
import type { Inspection } from '../engine.ts';
import { askReady } from './container-readiness.ts';
import { describeContainerEnd, inspectContainer, lastEndOf } from './container-state.ts';
import { type Daemon, reconnectToDaemon } from './daemon.ts';
import { checkIn } from './health-check.ts';
import { describeLostVolume } from './lost-volumes.ts';
import { idIn } from './names.ts';
import { findFullVolume, listVolumes } from './volumes.ts';

export async function statusOfContainers({ installation, readPlan, signal }: Inspection): Promise<Status> {
  const record = readContainers(installation);
  if (!record?.isUp || findOriginal(installation) !== null) {
    const plan = readPlan();
    const stopped = plan.parts.map((part) => ({ ...stoppedPart(part), container: null }));
    return statusOf({ ...stateOfPlan(plan), isUp: false, parts: stopped });
  }
  const daemon = await reconnectToDaemon(record.daemon.socket);
  const { version, urls, settings } = record;
  const there = await listVolumes(daemon.docker, idIn(record));
  const containers = record.services.map(({ container }) => container);
  const [parts, fullVolume] = await Promise.all([
    Promise.all(
      record.services.map((service) => lookAt(service, daemon, describeLostVolume(service.name, record, there))),
    ),
    findFullVolume(daemon.docker, containers),
  ]);
  return statusOf({
    ...{ installation, topology: 'distributed', engine: 'docker', version, urls, settings, parts, signal },
    isUp: parts.some(({ state }) => state !== 'stopped'),
    fullDisk: fullVolume?.message,
  });
}

async function lookAt(
  { name, container, url }: ContainersRecord['services'][number],
  daemon: Daemon,
  loss: string | null,
): Promise<PartState> {
  const found = await inspectContainer(daemon.docker, container);
  if (found === null) {
    const removed = { ...stoppedPart({ name, url }), container: null };
    if (loss !== null) return { ...removed, state: 'lost', reason: loss };
    return { ...removed, reason: 'Its container was removed: svc up replaces it.' };
  }
  const [health, memoryBytes, ends] = await Promise.all([
    healthIn(found, daemon),
    memoryOf(found, daemon),
    endsOf(found, daemon),
  ]);
  const { StartedAt, FinishedAt, Running } = found.State;
  const since = timeIn(Running ? StartedAt : FinishedAt);
  return { name, url, container, ...health, memoryBytes, ends, since, restarts: found.RestartCount };
}

async function healthIn(found: ContainerInspectInfo, { docker }: Daemon): Promise<Pick<PartState, 'state' | 'reason'>> {
  const { Paused, Restarting, Running, Health } = found.State;
  if (Paused) return { state: 'unhealthy', reason: 'Its container is paused: svc up replaces it.' };
  if (Restarting) return { state: 'restarting', reason: `Restarting: it ${describeContainerEnd(found.State)}.` };
  if (!Running)
    return { state: 'stopped', reason: `Its container ${describeContainerEnd(found.State)}: svc up replaces it.` };
  const readiness = await askReady(docker, found.Id, checkIn(found.Config.Healthcheck?.Test));
  if (readiness.ready) return { state: 'healthy', reason: null };
  return { state: Health?.Status === 'starting' ? 'starting' : 'unhealthy', reason: readiness.missing };
}

async function endsOf(found: ContainerInspectInfo, { docker }: Daemon): Promise<PartState['ends']> {
  const at = timeIn(found.State.FinishedAt);
  return found.RestartCount === 0 || at === null ? [] : [{ at, reason: await lastEndOf(docker, found) }];
}

/** Docker writes the year 1 for an event that never happened. */
function timeIn(text: string): string | null {
  return Date.parse(text) > 0 ? new Date(text).toISOString() : null;
}

const stats = z.object({
  memory_stats: z.object({
    usage: z.number().optional(),
    stats: z.object({ inactive_file: z.number().optional(), total_inactive_file: z.number().optional() }).optional(),
  }),
});

/** The memory of the container without the kernel's cache of files. */
async function memoryOf({ Id, State: { Running } }: ContainerInspectInfo, { docker }: Daemon): Promise<number | null> {
  if (!Running) return null;
  // `one-shot` skips the second measurement, which only the CPU share needs.
  const said: unknown = await docker
    .getContainer(Id)
    .stats({ stream: false, 'one-shot': true })
    .catch(() => null);
  const { usage, stats: files } = stats.safeParse(said).data?.memory_stats ?? {};
  if (usage === undefined) return null;
  return usage - (files?.total_inactive_file ?? files?.inactive_file ?? 0);
}
