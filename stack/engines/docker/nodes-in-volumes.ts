import type { Copying, NodePlaces } from '../../graph/fill-nodes.ts';
import { kindOf, metaFileOf } from '../../graph/node-data.ts';
import { copyNode } from './copy-volume.ts';
import { recordFilling } from './filling.ts';
import type { Look } from './look.ts';
import { volumeOfNode } from './lost-volumes.ts';
import { provisionGraphInside } from './provision-graph.ts';
import { statusOfContainers } from './status.ts';
import { ensureVolumes, removeUnheld } from './volumes.ts';

export interface NodesInVolumes {
  readonly look: Look;
  readonly stop: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** In Docker's volumes. */
export async function nodesInVolumes({ look, stop, signal }: NodesInVolumes): Promise<NodePlaces> {
  const { daemon, plan, serviceImage } = look;
  const { installation, definition } = plan;
  const { services } = await statusOfContainers(installation, signal);
  return {
    hasData: (_, node) => look.volumes.has(volumeOfNode(node, definition)),
    stateOf: (node) => services.find(({ name }) => name === node)?.state ?? null,
    change(nodes) {
      const parts = plan.parts.filter(({ name }) => nodes.includes(name));
      return provisionGraphInside({ plan: { ...plan, parts }, daemon, serviceImage, isAnew: true, signal });
    },
    stop,
    copy: (copying) => copyVolume(copying, look, signal),
  };
}

/** Until the copy is whole the record says that it is not. */
async function copyVolume({ from, to }: Copying, look: Look, signal: AbortSignal): Promise<void> {
  const { daemon, images, plan, user } = look;
  const { docker } = daemon;
  const { installation, definition } = plan;
  const [source, target] = [volumeOfNode(from, definition), volumeOfNode(to, definition)];
  recordFilling(installation, [target]);
  await removeUnheld(docker, [target]);
  await ensureVolumes({ docker, volumes: [target], installationId: definition.id, folder: installation.dir });
  const meta = metaFileOf(kindOf(to) ?? 'dgraph-alpha');
  await copyNode({ from: source, to: target, user, meta }, { plan, dock: { daemon, images }, signal });
  recordFilling(installation, []);
}
