import { once } from 'node:events';
import { createServer } from 'node:net';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { runAsProcesses } from '../engines/process/parts-as-processes.ts';
import { usualPatience } from '../engines/process/patience.ts';
import { ownPrograms } from '../engines/process/process-plan.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { waitUntilReady } from '../lifecycle/readiness.ts';
import { loopback } from '../ports/port-wishes.ts';
import type { ProcessIdentity } from '../state/process-identity.ts';

export interface BusAloneOptions {
  /** With a nats-server of ours among its parts. */
  readonly plan: Plan;
  readonly env: EnvRecord;
  /** Where it keeps what it is given. */
  readonly storeDir: string;
  /** Called before it runs, so that it can be found whatever happens to this process. */
  readonly born: (process: ProcessIdentity) => void;
  readonly signal: AbortSignal;
}

export interface BusAlone {
  readonly servers: readonly string[];
  stop(): Promise<void>;
}

/** Runs nats-server without the rest of the platform, where nobody else looks for it: not at the port that runtimes and services know. */
export async function startBusAlone({ plan, env, storeDir, born, signal }: BusAloneOptions): Promise<BusAlone> {
  const own = plan.parts.find(({ service }) => service === 'nats');
  if (own === undefined) throw new Error('the plan has no nats-server of ours');
  const [port, httpPort] = [await freePort(), await freePort()];
  const readyUrl = `http://${loopback}:${httpPort}/healthz`;
  const listening = { LISTEN: `${loopback}:${port}`, HTTP_LISTEN: `${loopback}:${httpPort}`, TLS: '' };
  const part = { ...own, readyUrl, variables: { ...own.variables, ...listening, STORE_DIR: storeDir } };
  const runner = runAsProcesses({ plan, env, taken: new Map(), programs: ownPrograms(env), patience: usualPatience });
  try {
    const running = await runner.start(part, { born });
    const stop = async () => {
      await running.stop('hurry');
      await runner.close();
    };
    try {
      const ended = running.ended.then(({ reason }) => {
        throw new SvcError('unavailable', `nats-server ${reason}.`, { hint: 'Read what it wrote: svc logs nats' });
      });
      await Promise.race([waitUntilReady(readyUrl, { timeoutMs: usualPatience.readyMs, signal }), ended]);
      return { servers: [`nats://${loopback}:${port}`], stop };
    } catch (error) {
      await running.stop('hurry');
      throw error;
    }
  } catch (error) {
    await runner.close();
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, loopback);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
