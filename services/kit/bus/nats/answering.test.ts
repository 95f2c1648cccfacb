import { expect, it } from 'vitest';
import { createLog } from '../../log.ts';
import { payloadMaxBytes, type Request } from '../bus.ts';
import { Answering } from './answering.ts';
import { type Frame, framesOf } from './frame.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const twoFrames = framesOf('question', Buffer.alloc(600_000), {});
const tooLarge = framesOf('question', Buffer.alloc(payloadMaxBytes + 1_000_000), {});

it('of a question that was refused, what still comes reaches no handler', () => {
  const { answering, handled, settled, said } = answeringOne();
  answering.refuse();
  for (const frame of twoFrames) answering.hear(frame);
  answering.abandon();
  expect({ handled, settled, said }).toEqual({ handled: [], settled: [], said: ['rate_limited'] });
});

it('of a question that is too large, what still comes reaches no handler', () => {
  const { answering, handled, settled, said } = answeringOne();
  for (const frame of tooLarge) answering.hear(frame);
  answering.abandon();
  expect({ handled, settled, said }).toEqual({ handled: [], settled: ['once'], said: ['too_large'] });
});

function answeringOne() {
  const handled: number[] = [];
  const settled: string[] = [];
  const said: string[] = [];
  const handle = async (request: Request) => {
    handled.push(request.payload.byteLength);
    return { payload: Buffer.alloc(0), headers: {} };
  };
  const send = (_: string, { kind, payload }: Frame) => {
    if (kind === 'error') said.push(JSON.parse(Buffer.from(payload).toString()).code);
  };
  const answering = new Answering(
    { subject: 'svc.test', asker: 'asker', reply: '_R.asker.own.1' },
    { handle, settled: () => settled.push('once') },
    { own: 'own', logger, send },
    () => undefined,
  );
  return { answering, handled, settled, said };
}
