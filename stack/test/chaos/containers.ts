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
import { type EngineInHand, hasSpoken } from './engine-in-hand.ts';

interface ContainersOptions {
  readonly keepers: readonly string[];
  /** Whether parts are made to hang too, each for most of a minute. */
  readonly hangs: boolean;
}

/** Controls an installation whose parts are containers of a Docker daemon on this machine. */
export async function takeContainers(platform: Platform, options: ContainersOptions): Promise<EngineInHand> {
  const record = () => readContainers(platform.installation);
  const { docker } = await reconnectToDaemon(record()?.daemon.socket ?? '');
  const { id } = readDefinition(platform.installation.definitionFile);
  const nameOf = (part: string) => `${prefixOf({ id })}-${part}`;
  const containerOf = (part: string) => docker.getContainer(nameOf(part));
  const nodesOfBus = () =>
    (record()?.services ?? []).flatMap(({ name, container }) => (/^nats/.test(name) ? [container] : []));

  /** Signals all processes but the first. The first cannot be ended from inside, and it ends with the others. */
  async function signalInside(part: string, signal: 'KILL' | 'STOP'): Promise<void> {
    await runInside(docker, nameOf(part), ['sh', '-c', `kill -${signal} -1`]);
  }

  /**
   * Starts a container of the installation that is none of its parts. Returns when its program has written something.
   */
  async function forget(part: string, program: string, words: readonly string[] = []): Promise<Docker.Container> {
    const { Image = '' } = (await inspectContainer(docker, nameOf('backend')))?.Config ?? {};
    const Entrypoint = ['node', '-e', program, ...words];
    const Labels = { [labels.installation]: id };
    const container = await docker.createContainer({ name: nameOf(part), Image, Entrypoint, Labels });
    const stdout = await container.attach({ stream: true, stdout: true });
    await container.start();
    await hasSpoken(stdout);
    return container;
  }

  /** Docker keeps a hung container until it notices that the container does not answer. */
  async function hang(part: string): Promise<void> {
    const starts = async () => (await containerOf(part).inspect()).RestartCount;
    // Only `svc up` ends a container that hangs before Docker has seen it healthy since its start.
    const isWell = async () => {
      const { State } = await containerOf(part).inspect();
      if (State.Health?.Status !== 'healthy') throw new Error(`${part} is ${State.Health?.Status}`);
    };
    await eventually(`that Docker sees ${part} well`, isWell, hangsMaxMs);
    const before = await starts();
    await signalInside(part, 'STOP');
    const isBack = async () => {
      await pause(lookEveryMs);
      if ((await starts()) === before) throw new Error(`${part} still hangs`);
    };
    await eventually(`that Docker starts ${part} again`, isBack, hangsMaxMs);
  }

  /** Docker takes a kill as the operator's wish, and does not start the container again. */
  async function killAndUp(part: string): Promise<void> {
    await containerOf(part).kill();
    await platform.up();
  }

  return {
    keepers: options.keepers,
    faultsBetween: [],
    faultsOf: (part) => [
      { name: `kill -9 in ${part}`, happen: () => signalInside(part, 'KILL') },
      { name: `docker restart ${part}`, happen: () => containerOf(part).restart() },
      { name: `docker kill ${part}, then svc up`, happen: () => killAndUp(part) },
      ...(options.hangs ? [{ name: `hang ${part}`, happen: () => hang(part) }] : []),
    ],
    freeze: (part) => containerOf(part).pause(),
    thaw: (part) => containerOf(part).unpause(),
    async processes() {
      const children = Map.groupBy(runningProcesses(), ({ parent }) => parent);
      const withDescendants = (pid: number): readonly number[] => [
        pid,
        ...(children.get(pid) ?? []).flatMap((child) => withDescendants(child.pid)),
      ];
      const found = await inspectContainers(docker, id);
      // A check that runs inside a container now and then is no descendant of the container's processes.
      return [...found.values()].flatMap(({ State }) => (State.Running ? withDescendants(State.Pid) : []));
    },
    async busStates() {
      const ask = ['wget', '-q', '-O', '-', `http://127.0.0.1:${natsPorts.monitoring}/varz`];
      return await Promise.all(nodesOfBus().map(async (name) => JSON.parse((await runInside(docker, name, ask)).said)));
    },
    /** Connects through a container in two networks: the network of the bus, and one that includes this machine. */
    async reachBus() {
      const [node = ''] = nodesOfBus();
      const [network = ''] = Object.keys((await inspectContainer(docker, node))?.NetworkSettings.Networks ?? {});
      const door = await forget('door', doorTo(natsPorts.client), [node]);
      await docker.getNetwork(network).connect({ Container: door.id });
      const { NetworkSettings } = await door.inspect();
      const url = `nats://${NetworkSettings.Networks.bridge?.IPAddress}:${natsPorts.client}`;
      return { urls: [url], leave: () => door.remove({ force: true }) };
    },
    async plant(program) {
      const planted = await forget('planted', program);
      return () => planted.remove({ force: true });
    },
    /** Volumes are data, which `svc down` keeps. */
    async stop() {
      await releaseVolumes(docker, id);
      for (const name of await listVolumes(docker, id)) await docker.getVolume(name).remove();
    },
    async left() {
      const filters = { name: [prefixOf({ id })] };
      const { Volumes } = await docker.listVolumes({ filters });
      return [
        ...[...(await inspectContainers(docker, id)).keys()].map((name) => `the container ${name}`),
        ...(await docker.listNetworks({ filters })).map(({ Name }) => `the network ${Name}`),
        ...(Volumes ?? []).map(({ Name }) => `the volume ${Name}`),
      ];
    },
  };
}

const hangsMaxMs = 120_000;
const lookEveryMs = 500;

/** A proxy to the host that its argument names. */
const doorTo = (port: number) => `
  const net = require('node:net');
  net.createServer((near) => {
    const far = net.connect(${port}, process.argv[1]);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  }).listen(${port}, () => process.stdout.write('open'));
`;
