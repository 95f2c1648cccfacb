import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import { labels } from './container-plan.ts';

/** The network that only the containers of an installation are in; returns its id. */
export async function ensureNetwork(docker: Docker, name: string, installationId: string): Promise<string> {
  const present = await findNetwork(docker, name);
  if (present !== null) return present;
  // Not `Internal`: MCP servers reach the world as they do elsewhere.
  await docker.createNetwork({
    Name: name,
    Driver: 'bridge',
    CheckDuplicate: true,
    Labels: { [labels.installation]: installationId },
  });
  return (await findNetwork(docker, name)) ?? '';
}

export async function removeNetwork(docker: Docker, name: string): Promise<void> {
  await docker
    .getNetwork(name)
    .remove()
    .catch((error: unknown) => {
      if (statusOf(error) !== 404) throw error;
    });
}

async function findNetwork(docker: Docker, name: string): Promise<string | null> {
  try {
    const found: { readonly Id: string } = await docker.getNetwork(name).inspect();
    return found.Id;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}
