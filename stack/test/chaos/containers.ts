import { once } from 'node:events';
import type Docker from 'dockerode';
import { readDefinition } from '../../definition/check.ts';
import { inspectContainer, inspectContainers, runInside } from '../../engines/docker/container-state.ts';
import { readContainers } from '../../engines/docker/containers-record.ts';
import { reconnectToDaemon } from '../../engines/docker/daemon.ts';
import { labels, prefixOf } from '../../engines/docker/names.ts';
import { listVolumes } from '../../engines/docker/volumes.ts';
import type { Installation } from '../../installation.ts';
import { usualBusPorts } from '../../ports/port-wishes.ts';
import { svc } from '../bench/processes.ts';
import { runningProcesses } from '../running-processes.ts';
import type { EngineInHand, Remove } from './engine-in-hand.ts';
import type { Fault } from './fault.ts';

/** Each part is a container of a Docker on this machine. */
export class ContainersInHand implements EngineInHand {
  readonly faultsBetween: readonly Fault[] = [];
  readonly keepers: readonly string[];
  readonly #installation: Installation;
  readonly #docker: Docker;
  readonly #id: string;

  private constructor(installation: Installation, docker: Docker, keepers: readonly string[]) {
    this.#installation = installation;
    this.#docker = docker;
    this.#id = readDefinition(installation.definitionFile).id;
    this.keepers = keepers;
  }

  /** Of an installation that runs. */
  static async of(installation: Installation, keepers: readonly string[]): Promise<ContainersInHand> {
    const socket = readContainers(installation)?.daemon.socket ?? '';
    return new ContainersInHand(installation, (await reconnectToDaemon(socket)).docker, keepers);
  }

  faultsOf(part: string): readonly Fault[] {
    const container = this.#containerOf(part);
    return [
      { name: `kill -9 in ${part}`, happen: () => this.#killInside(part) },
      { name: `docker restart ${part}`, happen: () => container.restart() },
      {
        name: `docker kill ${part}, then svc up`,
        happen: async () => {
          // Docker takes it for somebody's wish that this one be gone.
          await container.kill();
          await svc(this.#installation.dir, 'up');
        },
      },
    ];
  }

  freeze(part: string): Promise<void> {
    return this.#containerOf(part).pause();
  }

  thaw(part: string): Promise<void> {
    return this.#containerOf(part).unpause();
  }

  async processes(): Promise<readonly number[]> {
    const children = Map.groupBy(runningProcesses(), ({ parent }) => parent);
    const withDescendants = (pid: number): readonly number[] => [
      pid,
      ...(children.get(pid) ?? []).flatMap((child) => withDescendants(child.pid)),
    ];
    const found = await inspectContainers(this.#docker, this.#id);
    // What looks at a container from inside, now and then, is a child of none of its processes.
    return [...found.values()].flatMap(({ State }) => (State.Running ? withDescendants(State.Pid) : []));
  }

  async busStates(): Promise<readonly unknown[]> {
    const ask = ['wget', '-q', '-O', '-', `http://127.0.0.1:${usualBusPorts['nats-http']}/varz`];
    return await Promise.all(
      this.#nodesOfBus().map(async (name) => JSON.parse((await runInside(this.#docker, name, ask)).said)),
    );
  }

  async busUrls(): Promise<readonly string[]> {
    return await Promise.all(
      this.#nodesOfBus().map(async (name) => {
        const [network] = Object.values((await inspectContainer(this.#docker, name))?.NetworkSettings.Networks ?? {});
        return `nats://${network?.IPAddress}:${usualBusPorts.nats}`;
      }),
    );
  }

  async plant(program: string): Promise<Remove> {
    const { Image = '' } = (await inspectContainer(this.#docker, this.#nameOf('backend')))?.Config ?? {};
    const container = await this.#docker.createContainer({
      name: this.#nameOf('planted'),
      Image,
      Entrypoint: ['node', '-e', program],
      Labels: { [labels.installation]: this.#id },
    });
    const said = await container.attach({ stream: true, stdout: true });
    await container.start();
    await once(said, 'data');
    return () => container.remove({ force: true });
  }

  async stop(): Promise<void> {
    for (const name of await listVolumes(this.#docker, this.#id)) await this.#docker.getVolume(name).remove();
  }

  async left(): Promise<readonly string[]> {
    const containers = await inspectContainers(this.#docker, this.#id);
    const filters = { name: [prefixOf({ id: this.#id })] };
    const networks = await this.#docker.listNetworks({ filters });
    const { Volumes } = await this.#docker.listVolumes({ filters });
    return [
      ...[...containers.keys()].map((name) => `the container ${name}`),
      ...networks.map(({ Name }) => `the network ${Name}`),
      ...(Volumes ?? []).map(({ Name }) => `the volume ${Name}`),
    ];
  }

  #nodesOfBus(): readonly string[] {
    const services = readContainers(this.#installation)?.services ?? [];
    return services.flatMap(({ name, container }) => (/^nats/.test(name) ? [container] : []));
  }

  #nameOf(part: string): string {
    return `${prefixOf({ id: this.#id })}-${part}`;
  }

  #containerOf(part: string): Docker.Container {
    return this.#docker.getContainer(this.#nameOf(part));
  }

  /** All but the first process, which nothing inside can kill and which ends with them. */
  async #killInside(part: string): Promise<void> {
    await runInside(this.#docker, this.#nameOf(part), ['sh', '-c', 'kill -9 -1']);
  }
}
