import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { readPlan } from '../../engines/plan-of.ts';
import type { Part } from '../../parts/part.ts';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import type { Installation } from '../../state/installation.ts';
import { serviceOf } from '../bench/bench-platform.ts';
import type { Platform } from '../platform.ts';
import { processesOf } from '../running-processes.ts';
import { type EngineInHand, type Fault, hasSpoken, type Reach, type Remove } from './engine-in-hand.ts';
import { Wire } from './wire.ts';

/** Each part is a process of this machine. */
export class ProcessesInHand implements EngineInHand {
  readonly faultsBetween: readonly Fault[];
  readonly keepers: readonly string[];
  readonly #platform: Platform;
  readonly #bus: BusInHand | null;

  /** The bus is null where its nodes are parts like others. */
  constructor(platform: Platform, bus: BusInHand | null) {
    this.#platform = platform;
    this.#bus = bus;
    this.faultsBetween = bus === null ? [] : faultsOfBus(bus);
    this.keepers = bus === null ? [] : ['backend', busName];
  }

  faultsOf(part: string): readonly Fault[] {
    return [
      { name: `kill -9 ${part}`, happen: () => this.#signal(part, 'SIGKILL') },
      { name: `restart ${part}`, happen: () => this.#signal(part, 'SIGTERM') },
    ];
  }

  freeze(part: string): Promise<void> {
    return this.#signal(part, 'SIGSTOP');
  }

  thaw(part: string): Promise<void> {
    return this.#signal(part, 'SIGCONT');
  }

  async processes(): Promise<readonly number[]> {
    return processesOf(this.#platform.installation.dir).map(({ pid }) => pid);
  }

  async busStates(): Promise<readonly unknown[]> {
    const urls =
      this.#bus === null
        ? this.#nodesOfBus(({ otherUrls: [monitoring = ''] = [] }) => monitoring)
        : [this.#bus.server.monitoringUrl];
    return await Promise.all(
      urls.map(async (url) => {
        const answer = await fetch(`${url}/varz`, { signal: AbortSignal.timeout(5000) });
        return await answer.json();
      }),
    );
  }

  async reachBus(): Promise<Reach> {
    const urls = this.#bus === null ? this.#nodesOfBus(({ url }) => url) : [this.#bus.server.url];
    return { urls, leave: async () => {} };
  }

  async plant(program: string): Promise<Remove> {
    const child = spawn(process.execPath, ['-e', program, this.#platform.installation.dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await hasSpoken(child.stdout);
    return async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
  }

  async stop(): Promise<void> {
    await this.#bus?.wire.stop();
    await this.#bus?.server.stop();
  }

  async left(): Promise<readonly string[]> {
    return processesOf(this.#platform.installation.dir).map(({ command }) => `a process: ${command}`);
  }

  #nodesOfBus(tell: (part: Part) => string): readonly string[] {
    return readPlan(this.#platform.installation).parts.flatMap((part) => (part.service === 'nats' ? [tell(part)] : []));
  }

  async #signal(part: string, signal: NodeJS.Signals): Promise<void> {
    const { pid } = part === busName && this.#bus !== null ? this.#bus.server : await serviceOf(this.#platform, part);
    process.kill(pid, signal);
  }
}

/** What the bus is called that is nobody's part. */
const busName = 'bus';

/** A bus that somebody else runs, as far as the installation knows, and the wire to it. */
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
