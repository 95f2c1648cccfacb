import type { Msg } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { createLog } from '../../log.ts';
import { Senders } from '../senders.ts';
import { Exchanges } from './exchanges.ts';
import { type Frame, toNatsHeaders } from './frame.ts';
import { Stragglers } from './stragglers.ts';

const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');

it('frames of a request that ended early are expected from its responder, up to the number that can be in transit', () => {
  const stragglers = new Stragglers();
  stragglers.expect('id', 'answerer');
  const take = (answerer: string, id = 'id') => stragglers.take({ asker: 'own', answerer, id });
  expect([take('other'), take('answerer', 'other')]).toEqual([false, false]);
  expect(Array.from({ length: 70 }, () => take('answerer')).filter(Boolean).length).toBe(66);
});

it('beyond its limit, the oldest requests are forgotten', () => {
  const stragglers = new Stragglers();
  for (let i = 0; i < 5000; i++) stragglers.expect(`${i}`, 'answerer');
  expect(stragglers.take({ asker: 'own', answerer: 'answerer', id: '0' })).toBe(false);
  expect(stragglers.take({ asker: 'own', answerer: 'answerer', id: '4999' })).toBe(true);
});

it('a runtime is not blamed for a window of replies to each of 100 cancelled calls, but for later frames', async () => {
  const [runtime, process] = [newId('runtime'), newProcessId()];
  const closed: string[] = [];
  const senders = new Senders({ logger, close: (sender) => void closed.push(sender.process) });
  const asked: string[] = [];
  const send = (_: string, { kind }: Frame, reply?: string) => {
    if (kind === 'question' && reply !== undefined) asked.push(reply);
  };
  const exchanges = new Exchanges({ own: 'remote-mcp-1', send, turn: () => 0, logger }, senders);
  const controller = new AbortController();
  const calls = Array.from({ length: 100 }, () => {
    const options = { timeoutMs: 60_000, signal: controller.signal };
    return exchanges.ask(`svc.runtime.${runtime}.${process}.call`, Buffer.from('?'), options).catch(() => undefined);
  });
  controller.abort();
  await Promise.all(calls);
  const reply = (subject: string) => exchanges.hearReply(interimOn(subject));
  for (const subject of asked) for (let i = 0; i < 64; i++) reply(subject);
  expect(closed).toEqual([]);
  for (const subject of asked) for (let i = 0; i < 64; i++) reply(subject);
  expect(closed).toEqual([process]);
});

function interimOn(subject: string): Msg {
  const headers = toNatsHeaders({ kind: 'interim', more: false, headers: {}, payload: Buffer.alloc(0) });
  const unused = { sid: 0, respond: () => false, json: () => undefined, string: () => '' };
  return { ...unused, subject, data: Buffer.alloc(0), headers } as Msg;
}
