import type { NatsConnection } from '@nats-io/transport-node';
import { beforeEach, expect, it } from 'vitest';
import { framesOf } from './frame.ts';
import { Outbox } from './outbox.ts';

let said: string[];
let isClosed: boolean;
let outbox: Outbox;

beforeEach(() => {
  said = [];
  isClosed = false;
  const connection = { isClosed: () => isClosed, publish: (subject: string) => said.push(subject) };
  outbox = new Outbox(connection as unknown as NatsConnection);
});

it('sends at the end of a turn everything of that turn, in order', async () => {
  for (const subject of ['a', 'b', 'c']) put(subject);
  expect(said).toEqual([]);
  await turn();
  expect(said).toEqual(['a', 'b', 'c']);
  put('d');
  await turn();
  expect(said).toEqual(['a', 'b', 'c', 'd']);
});

it('can be flushed earlier, and sends nothing twice', async () => {
  put('a');
  outbox.empty();
  put('b');
  expect(said).toEqual(['a']);
  await turn();
  expect(said).toEqual(['a', 'b']);
});

it('sends nothing that a lost connection left in it', async () => {
  put('a');
  outbox.clear();
  await turn();
  put('b');
  isClosed = true;
  await turn();
  expect(said).toEqual([]);
});

function put(subject: string): void {
  for (const frame of framesOf('message', Buffer.from('x'), {})) outbox.put(subject, frame, undefined);
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
