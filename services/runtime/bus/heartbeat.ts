import type { Heartbeat } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { HomeOfOperators, Sandbox } from '../../contracts/sandbox.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { RuntimeConnection } from './connect.ts';

export interface HeartbeatOptions {
  readonly connection: RuntimeConnection;
  readonly intervalMs: number;
  readonly supervisor: Supervisor;
  readonly version: string;
  readonly sandbox: Sandbox;
  readonly home: HomeOfOperators;
}

/**
 * Heartbeats requested within this time are sent as one: every change of a workspace requests one, and the bus refuses
 * a runtime that sends too much.
 */
const gatherMs = 50;

export interface RunningHeartbeat {
  /** Sends an extra heartbeat in a moment. */
  beatSoon(): void;
  end(): void;
}

/** Sends a heartbeat every HEARTBEAT_INTERVAL (specification part 6). */
export function startHeartbeat(options: HeartbeatOptions): RunningHeartbeat {
  const { connection, intervalMs, supervisor, version, sandbox, home } = options;
  const { bus, runtime, process } = connection;
  const subject = subjects.heartbeat(runtime, process);
  const beat = () => {
    const body: Heartbeat = { at: Date.now(), inFlight: supervisor.inFlight, intervalMs, version, sandbox, home };
    try {
      bus.publish(subject, Buffer.from(JSON.stringify(body)));
    } catch (error) {
      // Without a connection a heartbeat cannot be sent; the loss is noticed elsewhere.
      if (!(error instanceof SvcError)) throw error;
    }
  };
  beat();
  const timer = setInterval(beat, intervalMs);
  let asked: NodeJS.Timeout | null = null;
  return {
    beatSoon() {
      asked ??= setTimeout(() => {
        asked = null;
        beat();
      }, gatherMs);
    },
    end() {
      clearInterval(timer);
      if (asked !== null) clearTimeout(asked);
    },
  };
}
