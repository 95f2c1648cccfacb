import { expect, it } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { createLog } from '../log.ts';
import type { Message } from './bus.ts';
import { Subscriber } from './subscriber.ts';
import { Turns } from './turns.ts';

const message: Message = { subject: 'a', payload: new Uint8Array(0), headers: {} };

function newSubscriber(handle: () => void | Promise<void>, pendingMax: number) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const logger = createLog({ service: 'test', level: 'info', destination })('test');
  const options = { pendingMax };
  const subscriber = new Subscriber('a.*', handle, options, { turns: new Turns(), logger, leave: () => undefined });
  return { lines, subscriber };
}

it('a slow consumer is named in the log when it loses its first message, and again after many more', () => {
  const { lines, subscriber } = newSubscriber(() => new Promise(() => undefined), 3);
  for (let i = 0; i < 3; i++) subscriber.hear(message);
  expect(lines).toEqual([]);
  for (let i = 0; i < 10_001; i++) subscriber.hear(message);
  expect(lines).toMatchObject([
    { level: 'warn', pattern: 'a.*', dropped: 1, pendingMax: 3 },
    { level: 'warn', pattern: 'a.*', dropped: 10_001 },
  ]);
});

it('a failing handler is named in the log, once for each message', async () => {
  let handled = 0;
  const done = Promise.withResolvers<void>();
  const { lines, subscriber } = newSubscriber(async () => {
    if (++handled === 2) done.resolve();
    throw new TypeError('thrown by a test');
  }, 10);
  subscriber.hear(message);
  subscriber.hear(message);
  await done.promise;
  await subscriber.stop();
  expect(lines).toMatchObject([{ level: 'error' }, { level: 'error' }]);
});

it('messages of a runtime that no handler can process make one line for each runtime', async () => {
  const done = Promise.withResolvers<void>();
  let heard = 0;
  const { lines, subscriber } = newSubscriber(() => {
    if (++heard === 200) done.resolve();
    throw new SvcError('invalid_input', 'no heartbeat');
  }, 1000);
  const runtimes = [newId('runtime'), newId('runtime')];
  for (const runtime of runtimes) {
    for (let i = 0; i < 100; i++)
      subscriber.hear({ ...message, subject: `svc.heartbeat.${runtime}.${newProcessId()}` });
  }
  await done.promise;
  await subscriber.stop();
  expect(lines).toMatchObject(runtimes.map((sender) => ({ level: 'warn', sender, err: { code: 'invalid_input' } })));
});
