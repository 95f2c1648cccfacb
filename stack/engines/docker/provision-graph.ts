import { graphStartMaxMs, graphUrlsOf } from '../../parts/dgraph.ts';
import type { Plan } from '../../plan/plan.ts';
import { filesGiven, giveFiles, givenDirOf, takeBackFiles } from './given-files.ts';
import { networkOf } from './network.ts';
import { dist, givenDir } from './site.ts';
import { runTask, type Task, type TaskSite } from './task.ts';

const name = 'provision-graph';

/** Gives the administrator and the backend's user their passwords and rights. Idempotent. */
export async function provisionGraphInside(site: TaskSite): Promise<void> {
  const { plan, daemon } = site;
  const { installation } = plan;
  try {
    giveFiles(givenDirOf(installation, name), filesGiven(secretsOf(plan)), daemon.fileOwner);
    await runTask(site, provisionerOf(plan, daemon.user));
  } finally {
    takeBackFiles(installation, name);
  }
}

/** A task in the closed network of the graph, where the default password of a new graph is known to no other program. */
export function provisionerOf(plan: Plan, user: string): Task {
  const { definition, installation } = plan;
  const program = `${dist}/stack/engines/docker/provision-graph/main.js`;
  const files = secretsOf(plan).map(({ path }) => path);
  return {
    ...{ name, user },
    command: ['node', program, graphUrlsOf(plan).join(','), String(graphStartMaxMs(definition)), ...files],
    binds: [`${givenDirOf(installation, name)}:${givenDir}:ro,Z`],
    network: networkOf('graph', definition),
    // The start of the container, and the time that the program itself has.
    minutesMax: 0.5 + graphStartMaxMs(definition) / 60_000,
    hint: 'Read its log: svc logs dgraph-alpha',
  };
}

function secretsOf({ secrets, site }: Plan) {
  const files = [secrets.graphAclKey, secrets.graphPassword, secrets.graphAdminPassword];
  return files.map((file) => ({ file, path: site.pathOf(file) }));
}
