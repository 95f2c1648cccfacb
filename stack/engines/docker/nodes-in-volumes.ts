import type { Copying, NodePlaces } from '../../graph/fill-nodes.ts';
import { metaFileOf } from '../../graph/node-data.ts';
import type { Installation } from '../../installation.ts';
import { readContainers, writeContainers } from './containers-record.ts';
import { copyNode } from './copy-volume.ts';
import type { Look } from './look.ts';
import { volumeOfNode } from './lost-volumes.ts';
import { provisionGraphInside } from './provision-graph.ts';
import { statusOfContainers } from './status.ts';
import { ensureVolumes, holdVolumes, listVolumes, removeVolumes } from './volumes.ts';

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
    hasData: (node) => look.volumes.has(volumeOfNode(node, definition)),
    stateOf: (node) => services.find(({ name }) => name === node)?.state ?? null,
    change(nodes) {
      const parts = plan.parts.filter(({ name }) => nodes.includes(name));
      return provisionGraphInside({ plan: { ...plan, parts }, daemon, serviceImage, force: true, signal });
    },
    stop,
    copy: (copying) => copyVolume(copying, look, signal),
  };
}

/** The record marks the volume as unfinished until the copy is complete. */
async function copyVolume({ from, to }: Copying, look: Look, signal: AbortSignal): Promise<void> {
  const { daemon, images, plan, serviceImage: image, user } = look;
  const { docker } = daemon;
  const { installation, definition } = plan;
  const [source, target] = [volumeOfNode(from, definition), volumeOfNode(to, definition)];
  const own = { docker, installationId: definition.id };
  recordFilling(installation, [target]);
  await removeVolumes({ ...own, volumes: [target] });
  await ensureVolumes({ ...own, volumes: [target], folder: installation.dir });
  await holdVolumes({ ...own, volumes: [...(await listVolumes(docker, definition.id))], image });
  const meta = metaFileOf(to);
  await copyNode({ from: source, to: target, user, meta }, { plan, dock: { daemon, images }, signal });
  recordFilling(installation, []);
}

/** Records which volumes hold an unfinished copy. */
function recordFilling(installation: Installation, filling: string[]): void {
  const record = readContainers(installation);
  if (record === null) throw new Error('state/containers.json is missing while a volume is copied');
  writeContainers(installation, { ...record, filling });
}
