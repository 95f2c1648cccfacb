import { SvcError } from '../../../services/contracts/errors.ts';
import { graphStartMaxMs, graphUrlsOf } from '../../parts/dgraph.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Daemon } from './daemon.ts';
import type { Facts } from './facts.ts';
import { filesGiven, type GivenFile, giveFiles, givenDirOf, takeBackFiles } from './given-files.ts';
import { containerNameOf, labels } from './names.ts';
import { graphNetworkOf } from './network.ts';
import { dist } from './program.ts';
import { givenDir } from './site.ts';
import { confined, runTask, type Task } from './task.ts';
import { runsAs } from './user.ts';

/** The name of the container and of its files. */
const name = 'provision-graph';
/** The start of the container. */
const containerStartMs = 30_000;

/** A container in the closed network of the graph, with the three secrets that it needs. */
export function provisionerOf(
  plan: Plan,
  { user, serviceImage }: Pick<Facts, 'user' | 'serviceImage'>,
): { readonly options: Task['options']; readonly given: readonly GivenFile[] } {
  const { definition, installation, secrets, site } = plan;
  const files = [secrets.graphAclKey, secrets.graphPassword, secrets.graphAdminPassword].map((file) => ({
    file,
    path: site.pathOf(file),
  }));
  const options = {
    name: containerNameOf(name, definition),
    Image: serviceImage,
    User: user,
    Entrypoint: ['node', `${dist}/stack/engines/docker/provision-graph/main.js`],
    Cmd: [graphUrlsOf(plan).join(','), String(graphStartMaxMs(definition)), ...files.map(({ path }) => path)],
    Labels: { [labels.installation]: definition.id, [labels.part]: name },
    HostConfig: {
      ...confined,
      Binds: [`${givenDirOf(installation, name)}:${givenDir}:ro,Z`],
      NetworkMode: graphNetworkOf(definition),
      Memory: memoryMaxBytes,
      PidsLimit: processesMax,
    },
  };
  return { options, given: filesGiven(files) };
}

const memoryMaxBytes = 256 * 1024 * 1024;
const processesMax = 64;

export interface Provisioning {
  readonly plan: Plan;
  readonly daemon: Daemon;
  readonly serviceImage: string;
  readonly signal: AbortSignal;
}

/** Gives the administrator and the backend's user their passwords and rights. Idempotent. */
export async function provisionGraphInside(provisioning: Provisioning): Promise<void> {
  const { plan, daemon, serviceImage, signal } = provisioning;
  const { installation } = plan;
  const { user, owner } = runsAs(installation, daemon.isRootless);
  const { options, given } = provisionerOf(plan, { user, serviceImage });
  try {
    giveFiles(installation, { part: { name }, given }, owner);
    const timeoutMs = graphStartMaxMs(plan.definition) + containerStartMs;
    await runTask(daemon.docker, { options, timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    throw new SvcError(error.code, `dgraph-alpha failed to be provisioned: ${error.message}`, {
      hint: 'Read its log: svc logs dgraph-alpha',
      cause: error,
    });
  } finally {
    takeBackFiles(installation, name);
  }
}
