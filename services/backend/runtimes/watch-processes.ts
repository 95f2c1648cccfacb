import { heartbeat } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { runtimeMessageMaxBytes } from '../../kit/bus/senders.ts';
import { commandProcesses } from '../bus/command-processes.ts';
import { processKey, type Sender, senderOf } from '../bus/sender.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import type { WithBus, WithLog } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import { hear } from './hear.ts';
import { intervalWhenUnknownMs, missedMax, type WithProcesses } from './processes.ts';
import { findUnheard, removeStatuses, removeStatusesOfTheDead } from './statuses.ts';
import type { Turns } from './turns.ts';

type WatchNeeds = WithGraph & WithBus & WithLog & WithProcesses;

/** Short compared with any heartbeat interval, long compared with the check. */
const lookEveryMs = 250;
/** A runtime's `lastHeartbeatAt` is rewritten at most once in this time. */
const heartbeatWrittenEveryMs = 60_000;

/**
 * Tracks the live runtime processes by their heartbeats, and removes the statuses of dead ones: at once when a
 * connection ended, after three missed heartbeats otherwise. Every backend watches all of them; the work is idempotent.
 */
export function watchProcesses(backend: WatchNeeds, turns: Turns): Subscription {
  const written = new Map<RuntimeId, number>();
  const logger = backend.log('runtimes');
  let connected = true;

  const heartbeats = backend.bus.subscribe(patterns.heartbeat, ({ subject, payload }) => {
    const sender = senderOf(patterns.heartbeat, subject);
    const { intervalMs, version, sandbox, home, inFlight } = parseBody(heartbeat, payload, runtimeMessageMaxBytes);
    hear(backend, sender, { intervalMs, version, sandbox, home, inFlight });
    noteHeartbeat(sender.runtime);
  });

  const gone = backend.bus.onGone((identity) => {
    if (identity.kind !== 'runtime') return;
    backend.bus.publish(subjects.gone(identity.runtime, identity.process), toBody({}));
    forget(identity, 'a runtime process disconnected');
  });

  // While this backend is disconnected, silence does not count.
  const connection = backend.bus.onConnection((state) => {
    connected = state === 'connected';
    if (connected) backend.processes.pardonAll();
  });

  function forget({ runtime, process }: Sender, event: string): void {
    const sender = { runtime, process };
    if (backend.processes.isLive(sender)) logger.info(sender, event);
    backend.processes.gone(sender);
    if (!backend.processes.isAvailable(runtime)) written.delete(runtime);
    inTurn(processKey(sender), async () => {
      if (!backend.processes.isLive(sender)) await removeStatuses(backend, sender);
    });
  }

  const looking = setInterval(() => {
    if (!connected) backend.processes.pardonAll();
    for (const process of backend.processes.overdue()) forget(process, 'a runtime process fell silent');
  }, lookEveryMs);
  looking.unref();

  function noteHeartbeat(runtime: RuntimeId): void {
    const now = Date.now();
    if (now - (written.get(runtime) ?? 0) < heartbeatWrittenEveryMs) return;
    written.set(runtime, now);
    inTurn(runtime, async () => {
      const isRevoked = await backend.graph.write(async (transaction) => {
        const node = await transaction.find('runtime', runtime, null);
        if (node === null || node.revokedAt !== null) return node !== null;
        if (now - (node.lastHeartbeatAt ?? 0) < heartbeatWrittenEveryMs) return false;
        await transaction.update('runtime', runtime, { lastHeartbeatAt: now }, { anchor: null });
        return false;
      });
      // The bus was not reachable at the time of the revocation.
      if (isRevoked) await backend.bus.disconnect(runtime);
    });
  }

  function inTurn(kind: string, work: () => Promise<void>): void {
    turns
      .take(kind, work)
      .catch((error: unknown) => logger.warn({ err: error }, 'failed to write the state of a runtime'));
  }

  // Processes known to other backends report themselves at once.
  inTurn('the dead', async () => commandProcesses(backend.bus, await findUnheard(backend), { kind: 'assignments' }));
  // By then, live processes from before this start have reported.
  const sweep = setTimeout(
    () => inTurn('the dead', () => removeStatusesOfTheDead(backend)),
    missedMax * intervalWhenUnknownMs,
  );
  sweep.unref();

  return {
    async stop() {
      clearTimeout(sweep);
      clearInterval(looking);
      await Promise.all([heartbeats.stop(), gone.stop(), connection.stop()]);
    },
  };
}
