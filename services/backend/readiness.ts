import type { Subscription } from '../kit/bus/bus.ts';
import type { Backend } from './context.ts';

/** The state of the backend's dependencies, each by name: `ok`, or the fault. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<'graph' | 'bus', string>>;
}

export interface ReadinessWatch extends Subscription {
  check(): Promise<Readiness>;
}

const checkDeadlineMs = 2000;
/** A proxy asks ten times a second, so a recent answer of the graph is reused. */
const trustedMs = 1000;

export function watchReadiness({ graph, bus }: Pick<Backend, 'graph' | 'bus'>): ReadinessWatch {
  let connected = true;
  let graphOkAt = Number.NEGATIVE_INFINITY;
  async function checkGraph(): Promise<string> {
    if (performance.now() - graphOkAt < trustedMs) return 'ok';
    const check = await graphCheck(graph);
    if (check === 'ok') graphOkAt = performance.now();
    return check;
  }
  const watching = bus.onConnection((state) => {
    connected = state === 'connected';
  });
  return {
    async check() {
      const checks = { graph: await checkGraph(), bus: connected ? 'ok' : 'not connected' };
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
