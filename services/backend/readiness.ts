import type { Subscription } from '../kit/bus/bus.ts';
import type { Backend } from './context.ts';

/** What the backend needs to answer anybody, each by name: `ok`, or what is wrong. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<'graph' | 'bus', string>>;
}

export interface ReadinessWatch extends Subscription {
  check(): Promise<Readiness>;
}

const checkDeadlineMs = 2000;

export function watchReadiness({ graph, bus }: Pick<Backend, 'graph' | 'bus'>): ReadinessWatch {
  let connected = true;
  const watching = bus.onConnection((state) => {
    connected = state === 'connected';
  });
  return {
    async check() {
      const checks = { graph: await graphCheck(graph), bus: connected ? 'ok' : 'not connected' };
      return { ready: Object.values(checks).every((check) => check === 'ok'), checks };
    },
    stop: () => watching.stop(),
  };
}

async function graphCheck(graph: Backend['graph']): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${checkDeadlineMs} ms`), checkDeadlineMs);
  });
  try {
    return await Promise.race([
      graph.ready().then(
        () => 'ok',
        () => 'not answering',
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
