import { connect as connectTo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { z } from 'zod';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import { eventually, residentBytes } from '../bench/processes.ts';
import { descriptorsOf, runningProcesses } from '../running-processes.ts';
import type { ChaosPlatform } from './chaos-platform.ts';
import type { Remove } from './engine-in-hand.ts';

/** Resources that a platform holds at rest. */
export interface Holding {
  readonly processes: number;
  readonly descriptors: number;
  readonly memoryBytes: number;
  readonly connections: number;
  readonly subscriptions: number;
}

const megabyte = 1024 * 1024;

interface Slack {
  /** Share of the amount before. */
  readonly share: number;
  /** Upper limit of the share, which would hide a leak in a large platform. */
  readonly shareMax: number;
  readonly spare: number;
}

/** Normal variation of each resource. A larger increase that stays is a leak. */
const slack: Readonly<Record<keyof Holding, Slack>> = {
  processes: { share: 0, shareMax: 0, spare: 0 },
  descriptors: { share: 0.2, shareMax: 200, spare: 40 },
  memoryBytes: { share: 0.6, shareMax: 700 * megabyte, spare: 100 * megabyte },
  connections: { share: 0, shareMax: 0, spare: 0 },
  subscriptions: { share: 0.1, shareMax: 200, spare: 10 },
};

const busState = z.object({ connections: z.number(), subscriptions: z.number() });

export async function holdingOf({ engine }: ChaosPlatform): Promise<Holding> {
  const own = await engine.processes();
  const sum = (of: (pid: number) => number) => own.reduce((total, pid) => total + whileItLives(() => of(pid)), 0);
  const nodes = (await engine.busStates()).map((state) => busState.parse(state));
  return {
    processes: own.length,
    descriptors: sum(descriptorsOf),
    memoryBytes: sum(residentBytes),
    connections: nodes.reduce((total, node) => total + node.connections, 0),
    subscriptions: nodes.reduce((total, node) => total + node.subscriptions, 0),
  };
}

/** The command lines of its processes. */
export async function commandsOf({ engine }: ChaosPlatform): Promise<readonly string[]> {
  const own = new Set(await engine.processes());
  return runningProcesses().flatMap(({ pid, command }) => (own.has(pid) ? [command.trim().replaceAll('\n', ' ')] : []));
}

/** Describes the resources that exceed their limits. */
export function leaks(before: Holding, after: Holding): readonly string[] {
  return Object.entries(slack).flatMap(([name, { share, shareMax, spare }]) => {
    const kind = name as keyof Holding;
    const allowed = before[kind] + Math.min(before[kind] * share, shareMax) + spare;
    return after[kind] > allowed ? [`${kind}: ${before[kind]} before, ${after[kind]} after`] : [];
  });
}

/** NATS allows a connection 24 subscriptions (templates/nats.conf), so the planted leak takes several connections. */
const subscriptionsOfOne = 20;
const connections = 16;

/** Resources that are leaked on purpose. */
export const planted = {
  processes: 1,
  descriptors: 300,
  memoryBytes: 1024 * 1024 * 1024,
  connections,
  subscriptions: connections * subscriptionsOfOne,
};
const settleMs = 1500;

/** Leaks each resource on purpose, and returns the kinds that the search for leaks misses: it must miss none. */
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

/** The process holds memory too. */
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

function whileItLives(measure: () => number): number {
  try {
    return measure();
  } catch {
    return 0;
  }
}
