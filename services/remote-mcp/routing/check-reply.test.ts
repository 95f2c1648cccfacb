import { expect, test } from 'vitest';
import { type CallReplyKind, callHeader } from '../../contracts/bus/call.ts';
import { Fuzz } from '../../kit/test/fuzz.ts';
import { checkReply, notificationIn } from './check-reply.ts';

const good: Readonly<Record<CallReplyKind, unknown>> = {
  result: { content: [{ type: 'text', text: 'line\nü 😀' }], isError: false },
  error: { code: -32000, message: 'no', data: { a: [1] } },
  refused: { code: 'unavailable', message: 'It is not running.', hint: 'Wait.' },
  notification: { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'x', progress: 1 } },
};
const kinds = ['result', 'error', 'refused', 'notification'] as const;
const rounds = 10_000;

test('of malformed replies, an agent gets nothing but JSON', () => {
  const fuzz = new Fuzz();
  for (let round = 0; round < rounds; round++) {
    const value = good[fuzz.of(kinds)];
    const text = Buffer.from(JSON.stringify(value));
    const payload = round % 2 === 0 ? fuzz.mutate(text) : Buffer.from(JSON.stringify(fuzz.oddJson(value)) ?? '');
    const reply = { payload, headers: { [callHeader.kind]: fuzz.of([...kinds, 'x']) } };
    try {
      const checked = checkReply(reply);
      if (checked.kind === 'answer') JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
      const notification = notificationIn(reply);
      if (notification !== null) JSON.stringify(notification);
    } catch (thrown) {
      expect.fail(`SVC_FUZZ_SEED=${fuzz.seed}: ${thrown} over ${JSON.stringify(payload.toString())}`);
    }
  }
});
