import { connect as connectTo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import { eventually } from '../bench/processes.ts';
import type { ChaosPlatform } from './chaos-platform.ts';
import type { Remove } from './engine-in-hand.ts';
import { type Holding, holdingOf, leaks } from './remains.ts';

/** NATS allows a connection 24 subscriptions (templates/nats.conf), so the leak takes several connections. */
const subscriptionsOfOne = 20;
const connections = 16;

/** What is left behind on purpose. */
export const planted = {
  processes: 1,
  descriptors: 300,
  memoryBytes: 1024 * 1024 * 1024,
  connections,
  subscriptions: connections * subscriptionsOfOne,
};
const settleMs = 1500;

/** Leaves one of each behind on purpose and returns what the search for leaks does not notice: it must notice all. */
export async function unnoticed(platform: ChaosPlatform, before: Holding): Promise<readonly string[]> {
  await using planting = new AsyncDisposableStack();
  for (const plant of [plantProcess, plantSockets, plantSubscriptions]) {
    const remove = await plant(platform);
    planting.defer(async () => void (await remove()));
  }
  await pause(settleMs);
  const noticed = leaks(before, await holdingOf(platform));
  return Object.keys(before).filter((kind) => !noticed.some((leak) => leak.startsWith(kind)));
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

async function plantSubscriptions({ platform: { installation }, engine }: ChaosPlatform): Promise<Remove> {
  const { callout } = busSeedsOf(secretFilesOf(installation));
  const authenticator = nkeyAuthenticator(Buffer.from(callout.reveal()));
  const { urls, leave } = await engine.reachBus();
  const opened: NatsConnection[] = [];
  for (let one = 0; one < connections; one++) {
    // On a busy machine, NATS closes a connection that logs in too late.
    const connection = await eventually('that NATS admits a planted connection', () =>
      connect({ servers: [...urls], authenticator, reconnect: false }),
    );
    opened.push(connection);
    for (let i = 0; i < subscriptionsOfOne; i++) {
      connection.subscribe(`planted.${one}.${i}`, { callback: () => undefined });
    }
    await connection.flush();
  }
  return async () => {
    await Promise.all(opened.map((connection) => connection.close()));
    await leave();
  };
}
