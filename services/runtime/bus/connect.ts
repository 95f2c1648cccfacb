import { setTimeout as pause } from 'node:timers/promises';
import { SvcError, toSvcError } from '../../contracts/errors.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { type OpenBusOptions, openBus } from '../../kit/bus/open-bus.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import { untilAborted } from '../time/until-aborted.ts';

/** The bus, and the identity of this process on it. */
export interface RuntimeConnection {
  readonly bus: Bus;
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
}

export interface ConnectOptions {
  readonly open: OpenBusOptions;
  readonly signal: AbortSignal;
  /** Why it is not connected, after each failed try. */
  readonly onProblem: (problem: SvcError) => void;
}

const retry: Backoff = { firstMs: 200, maxMs: 10_000 };

/**
 * Connects, with unlimited retries: a bus or backend may start later, and a refused key may be registered later. Once
 * connected, the bus reconnects by itself. Null if the signal aborted first.
 */
export async function connect({ open, signal, onProblem }: ConnectOptions): Promise<RuntimeConnection | null> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await Promise.race([connectOnce(open, signal), untilAborted(signal).then(() => null)]);
    } catch (thrown) {
      onProblem(toSvcError(thrown));
    }
    await pause(backoffMs(retry, failures, Math.random()), undefined, { signal }).catch(() => {});
  }
  return null;
}

async function connectOnce(open: OpenBusOptions, signal: AbortSignal): Promise<RuntimeConnection | null> {
  const bus = await openBus(open);
  if (bus.identity.kind === 'runtime' && !signal.aborted) {
    return { bus, runtime: bus.identity.runtime, process: bus.identity.process };
  }
  await bus.close();
  if (signal.aborted) return null;
  throw new SvcError('forbidden', `The key of this runtime makes it a ${bus.identity.kind}.`, {
    hint: 'Use the key that was registered for a runtime.',
  });
}
