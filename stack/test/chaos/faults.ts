import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosPlatform } from './platform.ts';

/** One thing that goes wrong, for a while. When it returns, what was taken is given back. */
export interface Fault {
  readonly name: string;
  readonly happen: (platform: ChaosPlatform) => Promise<void>;
}

const stoppedMs = 3000;
const awayMs = 4000;
const slowMs = 100;

export function faultsOf(services: readonly string[], longAwayMs: number): readonly Fault[] {
  const ofServices = services.flatMap((service) => [
    { name: `kill -9 ${service}`, happen: (platform: ChaosPlatform) => platform.signal(service, 'SIGKILL') },
    { name: `restart ${service}`, happen: (platform: ChaosPlatform) => platform.signal(service, 'SIGTERM') },
    { name: `freeze ${service}`, happen: (platform: ChaosPlatform) => freeze(platform, [service], stoppedMs) },
  ]);
  return [
    ...ofServices,
    { name: 'kill -9 the bus', happen: (platform) => platform.restartBus('SIGKILL') },
    { name: 'restart the bus', happen: (platform) => platform.restartBus('SIGTERM') },
    { name: 'freeze the bus', happen: (platform) => freeze(platform, ['bus'], stoppedMs) },
    {
      name: 'cut the bus off',
      async happen({ wire }) {
        wire.cut();
        await pause(awayMs);
        wire.heal();
      },
    },
    {
      name: 'pull the cable of the bus',
      async happen({ wire }) {
        wire.silence();
        await pause(awayMs);
        wire.heal();
      },
    },
    {
      name: 'slow the bus down',
      async happen({ wire }) {
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
