import Docker from 'dockerode';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readId } from '../../state/find-original.ts';
import { endInOrder } from '../../state/left-processes.ts';
import { inspectContainers } from './container-state.ts';
import { reconnectToDaemon, tolerate } from './daemon.ts';
import { labels } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { holdVolumes } from './volumes.ts';

const answerTimeoutMs = 4_000;

/** The names of the containers of an installation whose folder is gone. A Docker that does not answer is given up, so that the command ends. */
export async function findLeftContainers(socket: string, id: string): Promise<readonly string[]> {
  const timeout = answerTimeoutMs;
  const docker = new Docker({ socketPath: socket, host: undefined, port: undefined, protocol: 'http', timeout });
  const filters = { label: [`${labels.installation}=${id}`] };
  const found = await docker.listContainers({ all: true, filters }).catch((cause: unknown) => {
    throw new SvcError('unavailable', `The Docker at "${socket}" did not answer.`, { cause });
  });
  return found.map(({ Id, Names: [name = Id] }) => name.replace(/^\//, ''));
}

/** Removes these containers and their networks. The volumes stay. Returns the names of the containers. */
export async function endLeftContainers(socket: string, id: string): Promise<readonly string[]> {
  const { docker } = await reconnectToDaemon(socket);
  const found = [...(await inspectContainers(docker, id)).entries()];
  for (const [name, { Config }] of found) {
    const folder = Config.Labels?.[labels.folder];
    if (folder !== undefined && readId(folder) === id) {
      throw new SvcError('conflict', `The container ${name} belongs to the installation in "${folder}".`, {
        hint: `Stop it there: svc down --dir ${folder}`,
      });
    }
  }
  const partOf = ([name, { Config }]: (typeof found)[number]) => Config.Labels?.[labels.part] ?? name;
  await endInOrder(found, partOf, async ([, { Id }]) => {
    const container = docker.getContainer(Id);
    await container.stop().catch(tolerate(304, 404));
    await container.remove({ force: true }).catch(tolerate(404));
  });
  const [one] = found;
  // Without a container, docker volume prune would remove the data. Containers end on a full disk too.
  if (one !== undefined) await holdVolumes(docker, id, one[1].Image).catch(() => undefined);
  await removeFreeNetworks(docker, id);
  return found.map(([name]) => name);
}
