import type { Definition } from '../../settings/definition.ts';
import { connectTo, type Daemon } from '../docker/daemon.ts';
import { ensureImage, findImage, type Images } from '../docker/images.ts';

/** Refuses a Docker that cannot run MCP servers. Returns what the operator should know about another. */
export async function checkContainers(definition: Definition): Promise<readonly string[]> {
  const { docker, shortcomings } = await connectToOwn(definition);
  const { base } = definition.images;
  const isThere = (await findImage(docker, base)) !== null;
  return [...shortcomings, ...(isThere ? [] : [`The image "${base}" is missing: svc up pulls it.`])];
}

/** Pulls the image of sandboxes before anything starts, so that the operator sees the progress. Runtimes never pull. */
export async function fetchImage(definition: Definition, options: Omit<Images, 'docker'>): Promise<void> {
  const { docker } = await connectToOwn(definition);
  await ensureImage(definition.images.base, 'images.base', { ...options, docker });
}

function connectToOwn({ runtime }: Definition): Promise<Daemon> {
  return connectTo(
    { socket: runtime.dockerSocket, saidBy: 'runtime.dockerSocket' },
    { neededBy: 'runtime.sandbox: container', instead: 'Without Docker: runtime.sandbox: bwrap' },
  );
}
