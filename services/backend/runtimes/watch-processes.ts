import { heartbeat } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Backend } from '../context.ts';
import { parseBody, toBody } from '../wire.ts';
import { commandRuntimes } from './command-runtimes.ts';
import { intervalWhenUnknownMs, missedMax } from './processes.ts';
import { type Sender, senderOf } from './sender.ts';
import { removeStatuses, removeStatusesOfTheDead } from './statuses.ts';
import type { Turns } from './turns.ts';

type Context = Pick<Backend, 'graph' | 'bus' | 'log' | 'processes'>;

/** A runtime's `lastHeartbeatAt` is rewritten at most once in this time. */
const heartbeatWrittenEveryMs = 60_000;

/**
 * Knows which runtime processes live, by their heartbeats, and takes back what those said that don't: at once where their connection ended,
 * after three missed heartbeats where nothing closed. Every backend watches all of them; doing the same twice does nothing.
 */
export function watchProcesses(backend: Context, turns: Turns): Subscription {
  const written = new Map<RuntimeId, number>();
  const logger = backend.log('runtimes');
  let stopped = false;
  let connected = true;
  let timer: NodeJS.Timeout | null = null;

  const heartbeats = backend.bus.subscribe(patterns.heartbeat, ({ subject, payload }) => {
    const sender = senderOf(patterns.heartbeat, subject);
    const { intervalMs } = parseBody(heartbeat, payload);
    const isNew = backend.processes.seen(sender.runtime, sender.process, intervalMs);
    // Whatever it reported before, this backend does not know of it: ask for it again.
    if (isNew) commandRuntimes(backend, [sender.runtime], { kind: 'assignments' });
    noteHeartbeat(sender.runtime);
    watchNext();
  });

  const gone = backend.bus.onGone((identity) => {
    if (identity.kind !== 'runtime') return;
    backend.bus.publish(subjects.gone(identity.runtime, identity.process), toBody({}));
    forget(identity, 'runtime process disconnected');
  });

  // While this backend hears nobody, it is not they who are silent.
  const connection = backend.bus.onConnection((state) => {
    connected = state === 'connected';
    if (connected) backend.processes.pardonAll();
  });

  function forget({ runtime, process }: Sender, event: string): void {
    backend.processes.gone(process);
    logger.info({ runtime, process }, event);
    inTurn(process, () => (backend.processes.isLive(process) ? Promise.resolve() : removeStatuses(backend, process)));
  }

  function watchNext(): void {
    const dueInMs = backend.processes.nextDueInMs();
    if (stopped || timer !== null || dueInMs === null) return;
    timer = setTimeout(() => {
      timer = null;
      if (!connected) backend.processes.pardonAll();
      for (const process of backend.processes.overdue()) forget(process, 'runtime process fell silent');
      watchNext();
    }, dueInMs);
    timer.unref();
  }

  function noteHeartbeat(runtime: RuntimeId): void {
    const now = Date.now();
    if (now - (written.get(runtime) ?? 0) < heartbeatWrittenEveryMs) return;
    written.set(runtime, now);
    inTurn(runtime, async () => {
      await backend.graph.write(async (transaction) => {
        const node = await transaction.find('runtime', runtime, null);
        if (node === null || now - (node.lastHeartbeatAt ?? 0) < heartbeatWrittenEveryMs) return;
        await transaction.update('runtime', runtime, { lastHeartbeatAt: now }, { anchor: null });
      });
    });
  }

  function inTurn(kind: string, work: () => Promise<void>): void {
    turns.take(kind, work).catch((error: unknown) => logger.warn({ err: error }, 'state of a runtime not written'));
  }

  // Processes that ended while no backend listened have had the time to be heard by then.
  const sweep = setTimeout(
    () => inTurn('the dead', () => removeStatusesOfTheDead(backend)),
    missedMax * intervalWhenUnknownMs,
  );
  sweep.unref();

  return {
    async stop() {
      stopped = true;
      clearTimeout(sweep);
      if (timer !== null) clearTimeout(timer);
      await Promise.all([heartbeats.stop(), gone.stop(), connection.stop()]);
    },
  };
}
