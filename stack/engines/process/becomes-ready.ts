import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { takenPort } from './failure.ts';
import type { Ending, RunningPart } from './part-runner.ts';

/** Waits for a part that starts. Throws why it ended, or `timeout`. */
export async function becomesReady(running: RunningPart, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const looking = new AbortController();
  const ended = running.ended.then((ending) => {
    throw endedTooSoon(ending);
  });
  try {
    const either = AbortSignal.any([signal, looking.signal]);
    await Promise.race([waitUntilReady(running.ready, { timeoutMs, signal: either }), ended]);
  } finally {
    looking.abort();
  }
}

function endedTooSoon({ reason, portTaken }: Ending): SvcError {
  return portTaken ? takenPort(`it ${reason}`) : new SvcError('unavailable', `it ${reason}`);
}
