import { setTimeout as pause } from 'node:timers/promises';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { busSeedsOf, secretFilesOf } from '../../secrets/secrets.ts';
import type { Installation } from '../../state/installation.ts';
import type { Fault } from './engine-in-hand.ts';
import { Wire } from './wire.ts';

/** A bus that somebody else runs, as far as the installation knows, and the wire to it. */
export interface BusInHand {
  readonly server: TestServer;
  readonly wire: Wire;
}

export async function takeInHand(installation: Installation, folder: string): Promise<BusInHand> {
  const server = await TestServer.start(folder, { seeds: busSeedsOf(secretFilesOf(installation)) });
  return { server, wire: await Wire.start(server.port) };
}

const awayMs = 4000;
const slowMs = 100;

export function faultsOfBus({ server, wire }: BusInHand): readonly Fault[] {
  const restart = async (signal: NodeJS.Signals) => {
    await server.stop(signal);
    await server.start();
  };
  const forAWhile = async (change: () => void) => {
    change();
    await pause(awayMs);
    wire.heal();
  };
  return [
    { name: 'kill -9 the bus', happen: () => restart('SIGKILL') },
    { name: 'restart the bus', happen: () => restart('SIGTERM') },
    { name: 'cut the bus off', happen: () => forAWhile(() => wire.cut()) },
    { name: 'pull the cable of the bus', happen: () => forAWhile(() => wire.silence()) },
    { name: 'slow the bus down', happen: () => forAWhile(() => wire.slow(slowMs)) },
  ];
}
