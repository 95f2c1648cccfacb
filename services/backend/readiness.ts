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
/** A front asks ten times a second: a graph that has answered lately need not be asked again. */
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
