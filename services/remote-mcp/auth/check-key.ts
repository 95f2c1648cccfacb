import { type KeyReply, keyReply } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { BusLink } from '../bus/bus-link.ts';

/** An agent waits for this: past it, the backend is as good as away. */
const deadlineMs = 5000;

/** Asks the backend whose a key is. Any failure means that the key could not be checked, never that it is wrong. */
export async function checkKey(link: BusLink, key: Secret): Promise<KeyReply> {
  try {
    const { bus, process } = await link.connected();
    const question = Buffer.from(JSON.stringify({ key: key.reveal() }));
    const reply = await bus.request(subjects.key(process), question, { timeoutMs: deadlineMs });
    return keyReply.parse(JSON.parse(Buffer.from(reply.payload).toString()));
  } catch (cause) {
    throw new SvcError('unavailable', 'The API key cannot be checked now: the backend is not answering.', {
      hint: 'Try again shortly. Whoever runs the platform: svc status.',
      cause,
    });
  }
}
