import type { BusPlaces } from '../../content/change-nodes.ts';
import type { Plan } from '../../plan/plan.ts';
import { recordCreated } from '../../state/manifest.ts';
import type { DockerState } from './docker-state.ts';
import { runContainersAlone } from './run-alone.ts';
import { volumeOf } from './volume-of.ts';
import { ensureVolumes, handOverVolumes, removeVolumes } from './volumes.ts';

/** The volumes of the bus, while no container uses them. */
export function busInVolumes(state: DockerState): Omit<BusPlaces, 'planOf'> {
  const { daemon, images, serviceImage: image, user } = state;
  const { docker } = daemon;
  const remove = (plan: Plan) =>
    removeVolumes({ docker, volumes: volumesOf(plan), installationId: plan.definition.id });
  return {
    isThere: (plan) => volumesOf(plan).some((name) => state.volumes.has(name)),
    remove,
    async empty(plan) {
      await remove(plan);
      recordCreated(
        plan.installation,
        volumesOf(plan).map((path) => ({ kind: 'volume', path })),
      );
      const { definition, installation } = plan;
      await ensureVolumes({
        docker,
        volumes: volumesOf(plan),
        installationId: definition.id,
        folder: installation.dir,
      });
    },
    async run(plan, signal) {
      const installationId = plan.definition.id;
      await handOverVolumes({ docker, volumes: volumesOf(plan), installationId, user, image, signal });
      return runContainersAlone({ plan, daemon: { ...daemon, images }, bus: true, graph: false, signal });
    },
  };
}

function volumesOf({ definition, parts }: Plan): readonly string[] {
  const nodes = parts.filter(({ service }) => service === 'nats');
  return nodes.map((node) => volumeOf(node, definition)).filter((name) => name !== null);
}
