import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosPlatform } from './chaos-platform.ts';
import type { Clock } from './clock.ts';
import type { EngineInHand, Fault } from './engine-in-hand.ts';

const frozenMs = 3000;
const leapMs = 4000;
/** Longer than a session may be idle, and longer than a token lives. */
const leapSeconds = 3600;

/** Every fault of the platform. The keepers are also away together, for `longAwayMs`. */
export function faultsOf(platform: ChaosPlatform, longAwayMs: number): readonly Fault[] {
  const { engine, clock, parts } = platform;
  const { keepers } = engine;
  const frozen = [...new Set([...parts, ...keepers])];
  return [
    ...parts.flatMap((part) => engine.faultsOf(part)),
    ...frozen.map((part) => ({ name: `freeze ${part}`, happen: () => freeze(engine, [part], frozenMs) })),
    ...engine.faultsBetween,
    ...(keepers.length === 0 ? [] : [awayTogether(engine, longAwayMs)]),
    ...(clock === null ? [] : leapsOf(platform, clock)),
  ];
}

function awayTogether(engine: EngineInHand, forMs: number): Fault {
  const name = `take ${engine.keepers.join(' and ')} away for ${forMs / 1000} s`;
  return { name, happen: () => freeze(engine, engine.keepers, forMs) };
}

async function freeze(engine: EngineInHand, parts: readonly string[], forMs: number): Promise<void> {
  for (const part of parts) await engine.freeze(part);
  await pause(forMs);
  for (const part of parts) await engine.thaw(part);
}

function leapsOf(platform: ChaosPlatform, clock: Clock): readonly Fault[] {
  return [leapSeconds, -leapSeconds].map((seconds) => ({
    name: `set the clocks ${seconds > 0 ? 'ahead' : 'back'} by an hour`,
    async happen() {
      clock.set(seconds);
      await platform.hasTime(seconds);
      await pause(leapMs);
      clock.set(0);
      await platform.hasTime(0);
    },
  }));
}
