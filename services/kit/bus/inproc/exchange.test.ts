import { expect, it } from 'vitest';
import { newProcessId } from '../../../contracts/ids.ts';
import { createLog } from '../../log.ts';
import type { Reply, Request } from '../bus.ts';
import { InFlight } from '../in-flight.ts';
import { Senders } from '../senders.ts';
import { Turns } from '../turns.ts';
import { Exchange } from './exchange.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('test');
const asker = { identity: { kind: 'backend', process: newProcessId() }, ownEnd: 'backend-1' } as const;
const nothing = new Uint8Array(0);
const done: Reply = { payload: nothing, headers: {} };

function ask(handle: (request: Request) => Promise<Reply>, onInterim?: (reply: Reply) => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const answerer = { party: asker, handle, settled: () => undefined };
    const options = { timeoutMs: 10_000, ...(onInterim === undefined ? {} : { onInterim }) };
    const senders = new Senders({ logger, close: () => undefined });
    const wires = { turns: new Turns(), inFlight: new InFlight<Exchange>(), senders, logger };
    new Exchange({ asker, answerer, subject: 'a', payload: nothing, options, resolve, reject }, wires);
  });
}

it('a responder that sends many interim replies must wait until they are delivered', async () => {
  // More than are delivered in one turn of the event loop.
  const many = 2000;
  let delivered = 0;
  let deliveredWhenSent = 0;
  await ask(
    async (request) => {
      await Promise.all(Array.from({ length: many }, () => request.interim(nothing)));
      deliveredWhenSent = delivered;
      return done;
    },
    () => delivered++,
  );
  expect(deliveredWhenSent).toBe(many);
});

it('a responder that does not wait is refused in the end', async () => {
  const refused: unknown[] = [];
  await ask(async (request) => {
    for (let i = 0; i < 10_001; i++) request.interim(nothing).catch((error: unknown) => refused.push(error));
    return done;
  });
  expect(refused).toMatchObject([{ code: 'rate_limited' }]);
});

it('an interim reply after the final one is dropped', async () => {
  const late = Promise.withResolvers<Request>();
  let interims = 0;
  await ask(
    async (request) => {
      late.resolve(request);
      return done;
    },
    () => interims++,
  );
  await (await late.promise).interim(nothing);
  expect(interims).toBe(0);
});

it('a caller that fails on an interim reply still gets the final one', async () => {
  const reply = await ask(
    async (request) => {
      await request.interim(nothing);
      return done;
    },
    () => {
      throw new TypeError('thrown by a test');
    },
  );
  expect(reply.payload.byteLength).toBe(0);
});
