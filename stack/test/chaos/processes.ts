import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readPlan } from '../../engines/plan-of.ts';
import type { Part } from '../../parts/part.ts';
import { serviceOf } from '../bench/bench-platform.ts';
import type { Platform } from '../platform.ts';
import { processesOf } from '../running-processes.ts';
import { type BusInHand, faultsOfBus } from './bus-in-hand.ts';
import { type EngineInHand, type Fault, hasSpoken, type Reach, type Remove } from './engine-in-hand.ts';

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
