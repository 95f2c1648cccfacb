import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import { inspectContainer, inspectContainers, runInside } from '../../engines/docker/container-state.ts';
import { reconnectToDaemon } from '../../engines/docker/daemon.ts';
import { labels, prefixOf } from '../../engines/docker/names.ts';
import { listVolumes, releaseVolumes } from '../../engines/docker/volumes.ts';
import { readDefinition } from '../../settings/check.ts';
import { natsPorts } from '../../settings/ports.ts';
import { readContainers } from '../../state/containers-record.ts';
import { eventually } from '../bench/processes.ts';
import type { Platform } from '../platform.ts';
import { runningProcesses } from '../running-processes.ts';
import { type EngineInHand, type Fault, hasSpoken, type Reach, type Remove } from './engine-in-hand.ts';

interface ContainersOptions {
  readonly keepers: readonly string[];
  /** Whether parts hang too, each for most of a minute. */
  readonly hangs: boolean;
}

/** Each part is a container of a Docker on this machine. */
export class ContainersInHand implements EngineInHand {
  readonly faultsBetween: readonly Fault[] = [];
  readonly keepers: readonly string[];
  readonly #platform: Platform;
  readonly #docker: Docker;
  readonly #id: string;
  readonly #hangs: boolean;

  private constructor(platform: Platform, docker: Docker, { keepers, hangs }: ContainersOptions) {
    this.#platform = platform;
    this.#docker = docker;
    this.#id = readDefinition(platform.installation.definitionFile).id;
    this.keepers = keepers;
    this.#hangs = hangs;
  }

  /** Of an installation that runs. */
  static async of(platform: Platform, options: ContainersOptions): Promise<ContainersInHand> {
    const socket = readContainers(platform.installation)?.daemon.socket ?? '';
    return new ContainersInHand(platform, (await reconnectToDaemon(socket)).docker, options);
  }

  faultsOf(part: string): readonly Fault[] {
    const container = this.#containerOf(part);
    return [
      { name: `kill -9 in ${part}`, happen: () => this.#signalInside(part, 'KILL') },
      { name: `docker restart ${part}`, happen: () => container.restart() },
      {
        name: `docker kill ${part}, then svc up`,
        happen: async () => {
          // Docker takes it for somebody's wish that this one be gone.
          await container.kill();
          await this.#platform.up();
        },
      },
      ...(this.#hangs ? [{ name: `hang ${part}`, happen: () => this.#hang(part) }] : []),
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
    const ask = ['wget', '-q', '-O', '-', `http://127.0.0.1:${natsPorts.monitoring}/varz`];
    return await Promise.all(
      this.#nodesOfBus().map(async (name) => JSON.parse((await runInside(this.#docker, name, ask)).said)),
    );
  }

  /** Through a container that is in the network of the bus and in one that this machine is a part of. */
  async reachBus(): Promise<Reach> {
    const [node = ''] = this.#nodesOfBus();
    const [network = ''] = await this.#networksOf(node);
    const door = await this.#forget('door', doorTo(natsPorts.client), [node]);
    await this.#docker.getNetwork(network).connect({ Container: door.id });
    await this.#started(door);
    const { NetworkSettings } = await door.inspect();
    const url = `nats://${NetworkSettings.Networks.bridge?.IPAddress}:${natsPorts.client}`;
    return { urls: [url], leave: () => door.remove({ force: true }) };
  }

  async plant(program: string): Promise<Remove> {
    const planted = await this.#forget('planted', program);
    await this.#started(planted);
    return () => planted.remove({ force: true });
  }

  /** Volumes are data, which `svc down` keeps. */
  async stop(): Promise<void> {
    await releaseVolumes(this.#docker, this.#id);
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
    const services = readContainers(this.#platform.installation)?.services ?? [];
    return services.flatMap(({ name, container }) => (/^nats/.test(name) ? [container] : []));
  }

  #nameOf(part: string): string {
    return `${prefixOf({ id: this.#id })}-${part}`;
  }

  #containerOf(part: string): Docker.Container {
    return this.#docker.getContainer(this.#nameOf(part));
  }

  async #networksOf(container: string): Promise<readonly string[]> {
    return Object.keys((await inspectContainer(this.#docker, container))?.NetworkSettings.Networks ?? {});
  }

  /** A container of the installation that is none of its parts. */
  async #forget(part: string, program: string, words: readonly string[] = []): Promise<Docker.Container> {
    const { Image = '' } = (await inspectContainer(this.#docker, this.#nameOf('backend')))?.Config ?? {};
    const Entrypoint = ['node', '-e', program, ...words];
    const Labels = { [labels.installation]: this.#id };
    return await this.#docker.createContainer({ name: this.#nameOf(part), Image, Entrypoint, Labels });
  }

  async #started(container: Docker.Container): Promise<void> {
    const said = await container.attach({ stream: true, stdout: true });
    await container.start();
    await hasSpoken(said);
  }

  /** Docker goes on with what it takes to be running, until it is found to say nothing. */
  async #hang(part: string): Promise<void> {
    const starts = async () => (await this.#containerOf(part).inspect()).RestartCount;
    // What hangs before Docker has seen it well since its start is for `svc up` to end.
    const isWell = async () => {
      const { State } = await this.#containerOf(part).inspect();
      if (State.Health?.Status !== 'healthy') throw new Error(`${part} is ${State.Health?.Status}`);
    };
    await eventually(`that Docker sees ${part} well`, isWell, hangsMaxMs);
    const before = await starts();
    await this.#signalInside(part, 'STOP');
    const isBack = async () => {
      await pause(lookEveryMs);
      if ((await starts()) === before) throw new Error(`${part} still hangs`);
    };
    await eventually(`that Docker starts ${part} again`, isBack, hangsMaxMs);
  }

  /** To all but the first process, which nothing inside can end and which ends with them. */
  async #signalInside(part: string, signal: 'KILL' | 'STOP'): Promise<void> {
    await runInside(this.#docker, this.#nameOf(part), ['sh', '-c', `kill -${signal} -1`]);
  }
}

const hangsMaxMs = 120_000;
const lookEveryMs = 500;

/** Passes on what comes to it to whoever its argument names. */
const doorTo = (port: number) => `
  const net = require('node:net');
  net.createServer((near) => {
    const far = net.connect(${port}, process.argv[1]);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  }).listen(${port}, () => process.stdout.write('open'));
`;
