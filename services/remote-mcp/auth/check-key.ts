import { setTimeout as pause } from 'node:timers/promises';
import { type KeyReply, keyReply } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Secret } from '../../contracts/secret.ts';
import { AnswererGone, NobodyAnswers } from '../../kit/bus/bus.ts';
import type { BusLink } from '../bus/bus-link.ts';

/** An agent waits for the check. After this time the backend counts as unavailable. */
const deadlineMs = 5000;
/** A backend that restarts or reconnects is back within two seconds. Retries bridge that time. */
const patienceMs = 2500;
const againAfterMs = 100;

/** Asks the backend who owns a key. A failure means that the key could not be checked, never that it is wrong. */
export async function checkKey(link: BusLink, key: Secret): Promise<KeyReply> {
  const question = Buffer.from(JSON.stringify({ key: key.reveal() }));
  let until: number | null = null;
  for (;;) {
    try {
      const { bus } = await link.connected();
      const reply = await bus.request(subjects.key(bus.identity.process), question, { timeoutMs: deadlineMs });
      return keyReply.parse(JSON.parse(Buffer.from(reply.payload).toString()));
    } catch (cause) {
      const isAway = cause instanceof NobodyAnswers || cause instanceof AnswererGone;
      // Counted from the first failure, because the first attempt may have waited for the bus.
      until ??= performance.now() + patienceMs;
      if (!isAway || performance.now() > until) throw notChecked(cause);
    }
    await pause(againAfterMs);
  }
}

function notChecked(cause: unknown): SvcError {
  return new SvcError('unavailable', 'The API key cannot be checked now: the backend is not answering.', {
    hint: 'Try again shortly. An operator finds the reason: svc status.',
    cause,
  });
}
