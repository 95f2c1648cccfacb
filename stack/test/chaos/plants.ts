import { connect as connectTo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import type { ChaosPlatform } from './chaos-platform.ts';
import type { Remove } from './engine-in-hand.ts';
import { type Holding, holdingOf, leaks } from './remains.ts';

/** What is left behind on purpose. */
export const planted = {
  processes: 1,
  descriptors: 300,
  memoryBytes: 1024 * 1024 * 1024,
  connections: 1,
  subscriptions: 400,
};
const settleMs = 1500;

/** Leaves one of each behind on purpose and returns what the search for leaks does not notice: it must notice all. */
export async function unnoticed(platform: ChaosPlatform, before: Holding): Promise<readonly string[]> {
  const removals = [await plantProcess(platform), await plantSockets(platform), await plantSubscriptions(platform)];
  try {
    await pause(settleMs);
    const noticed = leaks(before, await holdingOf(platform));
    return Object.keys(before).filter((kind) => !noticed.some((leak) => leak.startsWith(kind)));
  } finally {
    for (const remove of removals) await remove();
  }
}

/** It holds memory too. */
function plantProcess({ engine }: ChaosPlatform): Promise<Remove> {
  return engine.plant(
    `const held = Buffer.alloc(${planted.memoryBytes}, 1); process.stdout.write('held'); setInterval(() => held[0], 1000);`,
  );
}

async function plantSockets({ urls }: ChaosPlatform): Promise<Remove> {
  const { hostname, port } = new URL(urls[0] ?? '');
  const opened: Socket[] = [];
  for (let i = 0; i < planted.descriptors; i++) opened.push(connectTo({ host: hostname, port: Number(port) }));
  return async () => {
    for (const socket of opened) socket.destroy();
  };
}

async function plantSubscriptions({ installation, engine }: ChaosPlatform): Promise<Remove> {
  const { callout } = busSeedsOf(secretFilesOf(installation));
  const authenticator = nkeyAuthenticator(Buffer.from(callout.reveal()));
  const { urls, leave } = await engine.reachBus();
  const connection = await connect({ servers: [...urls], authenticator, reconnect: false });
  for (let i = 0; i < planted.subscriptions; i++) connection.subscribe(`planted.${i}`, { callback: () => undefined });
  await connection.flush();
  return async () => {
    await connection.close();
    await leave();
  };
}
