import type { Secret } from '../../services/contracts/secret.ts';
import { type Cause, causeOf } from './causes.ts';
import { type Climber, endSession, failed, steps } from './rungs.ts';

export interface Rung {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly detail: string;
}

export interface LadderResult {
  /** Is the key valid? It is wherever the platform answered anything but 401 and 503. */
  readonly ok: boolean;
  /** HTTP status of the answer to the key; 0 where it was never asked. */
  readonly status: number;
  readonly latencyMs: number;
  readonly rungs: readonly Rung[];
  readonly cause: Cause | null;
}

export interface LadderOptions {
  readonly url: URL;
  readonly key: Secret;
  readonly onRung?: (rung: Rung) => void;
}

/** Climbs from the name to the tools and stops at the first rung that breaks: that one says why the key does not work. */
export async function climb(options: LadderOptions): Promise<LadderResult> {
  const climber: Climber = { ...options, session: null, status: 0, pingMs: 0 };
  const rungs: Rung[] = [];
  let cause: Cause | null = null;
  for (const step of steps) {
    const start = performance.now();
    const outcome = await step.climb(climber).catch((error: unknown) => failed(causeOf(error, options.url)));
    if (outcome === null) continue;
    const rung = {
      name: step.name,
      ok: outcome.cause === null,
      ms: round(performance.now() - start),
      detail: outcome.detail,
    };
    rungs.push(rung);
    options.onRung?.(rung);
    cause = outcome.cause;
    if (cause !== null) break;
  }
  if (climber.session !== null) await endSession(climber);
  const answered = climber.status !== 0;
  return {
    ok: answered && climber.status !== 401 && climber.status !== 503,
    status: climber.status,
    latencyMs: climber.pingMs,
    rungs,
    cause,
  };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
