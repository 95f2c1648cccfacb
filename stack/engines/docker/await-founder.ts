import { join } from 'node:path';
import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import { founderOf, leaderMetric, metricsPath, withoutLeader } from '../../graph/cluster-leader.ts';
import type { Part } from '../../parts/part.ts';
import { metaFileOf } from '../../place/node-data.ts';
import { becomesReady } from './container-state.ts';

interface Founding {
  readonly docker: Docker;
  readonly parts: readonly Part[];
  /** The name of a part's container. */
  readonly containerOf: (part: string) => string;
  readonly signal: AbortSignal;
}

/** Before the first start of a node's container: waits until the founder of the cluster that the node joins has a leader. */
export async function awaitFounder(part: Part, { docker, parts, containerOf, signal }: Founding): Promise<void> {
  const founder = founderOf(part, parts);
  if (founder === null || (await hasStarted(docker.getContainer(containerOf(part.name)), part))) return;
  const metricsUrl = new URL(metricsPath, founder.ready.url).href;
  const check = ['sh', '-c', `curl -sS -m 4 '${metricsUrl}' | grep -qF '${leaderMetric}'`];
  const timeoutMs = part.limits.startMaxMs;
  if (await becomesReady(docker, containerOf(founder.name), check, { timeoutMs, signal })) return;
  throw withoutLeader(timeoutMs);
}

/** Whether the node has written to its volume. Docker looks into the volume of a container that does not run, too. */
async function hasStarted(container: Docker.Container, { name, variables }: Part): Promise<boolean> {
  try {
    await container.infoArchive({ path: join(variables.DATA ?? '', metaFileOf(name)) });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
