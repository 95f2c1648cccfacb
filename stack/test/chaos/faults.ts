import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { BusInHand, ChaosPlatform } from './platform.ts';

/** One thing that goes wrong, for a while. When it returns, what was taken is given back. */
export interface Fault {
  readonly name: string;
  readonly happen: (platform: ChaosPlatform) => Promise<void>;
}

const stoppedMs = 3000;
const awayMs = 4000;
const slowMs = 100;
/** More than a session may be idle, and more than a token lives. */
const leapSeconds = 3600;

export interface Taken {
  readonly services: readonly string[];
  /** How long backend and bus are away together. */
  readonly longAwayMs: number;
  readonly clock: Clock | null;
  /** Null where the bus is a cluster, whose nodes are among the services. */
  readonly hand: BusInHand | null;
}

export function faultsOf({ services, longAwayMs, clock, hand }: Taken): readonly Fault[] {
  const ofServices = services.flatMap((service) => [
    { name: `kill -9 ${service}`, happen: (platform: ChaosPlatform) => platform.signal(service, 'SIGKILL') },
    { name: `restart ${service}`, happen: (platform: ChaosPlatform) => platform.signal(service, 'SIGTERM') },
    { name: `freeze ${service}`, happen: (platform: ChaosPlatform) => freeze(platform, [service], stoppedMs) },
  ]);
  return [
    ...ofServices,
    ...(hand === null ? [] : faultsOfBus(hand, longAwayMs)),
    ...(clock === null ? [] : leapsOf(clock)),
  ];
}

function faultsOfBus({ wire }: BusInHand, longAwayMs: number): readonly Fault[] {
  return [
    { name: 'kill -9 the bus', happen: (platform) => platform.restartBus('SIGKILL') },
    { name: 'restart the bus', happen: (platform) => platform.restartBus('SIGTERM') },
    { name: 'freeze the bus', happen: (platform) => freeze(platform, ['bus'], stoppedMs) },
    {
      name: 'cut the bus off',
      async happen() {
        wire.cut();
        await pause(awayMs);
        wire.heal();
      },
    },
    {
      name: 'pull the cable of the bus',
      async happen() {
        wire.silence();
        await pause(awayMs);
        wire.heal();
      },
    },
    {
      name: 'slow the bus down',
      async happen() {
        wire.slow(slowMs);
        await pause(awayMs);
        wire.heal();
      },
    },
    {
      name: `take backend and bus away for ${longAwayMs / 1000} s`,
      happen: (platform) => freeze(platform, ['backend', 'bus'], longAwayMs),
    },
  ];
}

async function freeze(platform: ChaosPlatform, services: readonly string[], forMs: number): Promise<void> {
  for (const service of services) await platform.signal(service, 'SIGSTOP');
  await pause(forMs);
  for (const service of services) await platform.signal(service, 'SIGCONT');
}

function leapsOf(clock: Clock): readonly Fault[] {
  return [leapSeconds, -leapSeconds].map((seconds) => ({
    name: `set the clocks ${seconds > 0 ? 'ahead' : 'back'} by an hour`,
    async happen(platform: ChaosPlatform) {
      clock.set(seconds);
      await platform.hasTime(seconds);
      await pause(awayMs);
      clock.set(0);
      await platform.hasTime(0);
    },
  }));
}
