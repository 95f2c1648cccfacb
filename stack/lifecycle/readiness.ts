import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isDiskFull } from '../../services/contracts/docker.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { missingOfNats } from '../bus/greet-nats.ts';
import { request } from '../client/http.ts';
import { parseJson } from '../machine/parse-json.ts';
import type { ReadyCheck } from '../parts/part.ts';

/** The answer of a service's `/ready`, or of another address that answers 200 while all is well. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly missing: string };

const probeTimeoutMs = 2000;

export async function readReadiness(check: ReadyCheck, signal?: AbortSignal): Promise<Readiness> {
  try {
    if (check.kind === 'nats') {
      const missing = await missingOfNats(check);
      return missing === null ? { ready: true } : { ready: false, missing: withRepair(missing) };
    }
    const { url } = check;
    const { status, body } = await request({ method: 'GET', url, timeoutMs: probeTimeoutMs, signal });
    if (status === 200) return { ready: true };
    return { ready: false, missing: notReady.safeParse(parseJson(body)).data ?? `GET ${url} answered ${status}` };
  } catch (error) {
    if (error instanceof SvcError && error.code !== 'cancelled') return { ready: false, missing: error.message };
    throw error;
  }
}

/** Whether the part answers at all: a part that is not ready may still be alive. */
export function answers(check: ReadyCheck): Promise<boolean> {
  const { kind, url } = check;
  const asked = kind === 'nats' ? missingOfNats(check) : request({ method: 'GET', url, timeoutMs: probeTimeoutMs });
  return asked.then(
    () => true,
    () => false,
  );
}

export interface ReadinessWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export async function waitUntilReady(check: ReadyCheck, wait: ReadinessWait): Promise<void> {
  await pollReadiness(() => readReadiness(check, wait.signal), wait);
}

/** A start takes milliseconds, so the first questions come fast. Later questions must not slow down a busy part. */
const usualPauses = { firstMs: 4, maxMs: 100 };

/** Repeats a question until the answer is ready. Throws `timeout`, and what throws instead of an answer. */
export async function pollReadiness(
  read: () => Promise<Readiness>,
  { timeoutMs, signal }: ReadinessWait,
  { firstMs, maxMs } = usualPauses,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, maxMs)) {
    const readiness = await read();
    if (readiness.ready) return;
    if (performance.now() >= deadline) {
      const missing = readiness.missing.replace(/\.$/, '');
      throw new SvcError('timeout', `It was not ready within ${timeoutMs / 1000} s: ${missing}.`);
    }
    await pause(pauseMs, undefined, { signal });
  }
}

/** The answers of our services, and of a container of NATS. */
const notReady = z.union([
  z.object({ missing: z.array(z.string()).min(1) }).transform(({ missing }) => missing.join(', ')),
  z.object({ error: z.string().min(1) }).transform(({ error }) => withRepair(error)),
]);

/** NATS gives up a stream that it failed to write, and does not retry by itself. */
function withRepair(error: string): string {
  return isDiskFull(error)
    ? `Its disk is full (${error}). Free some space, then run svc up, which restarts it.`
    : error;
}
