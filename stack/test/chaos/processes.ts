import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { readPlan } from '../../engines/plan-of.ts';
import type { Part } from '../../parts/part.ts';
import type { Installation } from '../../state/installation.ts';
import { svc } from '../bench/processes.ts';
import { processesOf } from '../running-processes.ts';
import { type BusInHand, faultsOfBus } from './bus-in-hand.ts';
import { type EngineInHand, hasSpoken, type Reach, type Remove } from './engine-in-hand.ts';
import type { Fault } from './fault.ts';

const status = z.object({ services: z.array(z.object({ name: z.string(), pid: z.number().nullable() })) });

/** Each part is a process of this machine. */
export class ProcessesInHand implements EngineInHand {
  readonly faultsBetween: readonly Fault[];
  readonly keepers: readonly string[];
  readonly #installation: Installation;
  readonly #bus: BusInHand | null;

  /** The bus is null where its nodes are parts like others. */
  constructor(installation: Installation, bus: BusInHand | null) {
    this.#installation = installation;
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
    return processesOf(this.#installation.dir).map(({ pid }) => pid);
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
    const child = spawn(process.execPath, ['-e', program, this.#installation.dir], {
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
    return processesOf(this.#installation.dir).map(({ command }) => `a process: ${command}`);
  }

  #nodesOfBus(tell: (part: Part) => string): readonly string[] {
    return readPlan(this.#installation).parts.flatMap((part) => (part.service === 'nats' ? [tell(part)] : []));
  }

  async #signal(part: string, signal: NodeJS.Signals): Promise<void> {
    process.kill(part === busName && this.#bus !== null ? this.#bus.server.pid : await this.#pidOf(part), signal);
  }

  async #pidOf(part: string): Promise<number> {
    const { services } = status.parse(await svc(this.#installation.dir, 'status'));
    const pid = services.find(({ name }) => name === part)?.pid;
    if (pid === null || pid === undefined) throw new Error(`${part} does not run`);
    return pid;
  }
}

/** What the bus is called that is nobody's part. */
const busName = 'bus';
