import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import type { Installation } from '../../state/installation.ts';
import type { Platform } from '../platform.ts';
import { processesOf } from '../running-processes.ts';
import { type EngineInHand, type Fault, hasSpoken } from './engine-in-hand.ts';
import { Wire } from './wire.ts';

/** Controls a platform whose parts are processes of this machine. `bus` is null where its nodes are parts too. */
export function takeProcesses(platform: Platform, bus: BusInHand | null): EngineInHand {
  const { installation } = platform;
  const nodesOfBus = () =>
    bus === null
      ? readPlan(installation).parts.filter(({ service }) => service === 'nats')
      : [{ url: bus.server.url, otherUrls: [bus.server.monitoringUrl] }];

  async function signal(part: string, signal: NodeJS.Signals): Promise<void> {
    const { pid } = (part === busName ? bus?.server : (await platform.services()).get(part)) ?? {};
    if (!pid) throw new Error(`${part} does not run`);
    process.kill(pid, signal);
  }

  return {
    faultsBetween: bus === null ? [] : faultsOfBus(bus),
    keepers: bus === null ? [] : ['backend', busName],
    faultsOf: (part) => [
      { name: `kill -9 ${part}`, happen: () => signal(part, 'SIGKILL') },
      { name: `restart ${part}`, happen: () => signal(part, 'SIGTERM') },
    ],
    freeze: (part) => signal(part, 'SIGSTOP'),
    thaw: (part) => signal(part, 'SIGCONT'),
    processes: async () => processesOf(installation.dir).map(({ pid }) => pid),
    async busStates() {
      const ask = (url = '') => fetch(`${url}/varz`, { signal: AbortSignal.timeout(5000) });
      return await Promise.all(nodesOfBus().map(async ({ otherUrls = [] }) => (await ask(otherUrls[0])).json()));
    },
    async reachBus() {
      return { urls: nodesOfBus().map(({ url }) => url), leave: async () => {} };
    },
    async plant(program) {
      const child = spawn(process.execPath, ['-e', program, installation.dir], { stdio: ['ignore', 'pipe', 'ignore'] });
      await hasSpoken(child.stdout);
      return async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
    },
    async stop() {
      await bus?.wire[Symbol.asyncDispose]();
      await bus?.server.stop();
    },
    left: async () => processesOf(installation.dir).map(({ command }) => `a process: ${command}`),
  };
}

/** The name of a bus that is no part of the platform. */
const busName = 'bus';

/** A bus that is external to the installation, and the wire to it. */
export interface BusInHand {
  readonly server: TestServer;
  readonly wire: Wire;
}

export async function takeInHand(installation: Installation, folder: string): Promise<BusInHand> {
  const server = await TestServer.start(folder, { seeds: busSeedsOf(secretFilesOf(installation)) });
  return { server, wire: await Wire.start(server.port) };
}

const awayMs = 4000;
const slowMs = 100;

function faultsOfBus({ server, wire }: BusInHand): readonly Fault[] {
  const restart = async (signal: NodeJS.Signals) => {
    await server.stop(signal);
    await server.start();
  };
  const forAWhile = async (change: () => void) => {
    change();
    await pause(awayMs);
    wire.heal();
  };
  return [
    { name: 'kill -9 the bus', happen: () => restart('SIGKILL') },
    { name: 'restart the bus', happen: () => restart('SIGTERM') },
    { name: 'cut the bus off', happen: () => forAWhile(() => wire.cut()) },
    { name: 'pull the cable of the bus', happen: () => forAWhile(() => wire.silence()) },
    { name: 'slow the bus down', happen: () => forAWhile(() => wire.slow(slowMs)) },
  ];
}
