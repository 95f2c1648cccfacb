import type { BenchPlatform } from './bench-platform.ts';
import { measureUp } from './commands.ts';
import { atLeast, atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { startDirect, startFloor } from './sides.ts';
import { manySessions, oneSession, perSide, ratio } from './speed.ts';

const upMaxMs = 4000;

/** The same calls as inside one process, with every service in a process of its own and NATS between them. */
export async function measureDistributed(platform: BenchPlatform): Promise<Figure[]> {
  const sides = [platform.side(), await startDirect(), await startFloor('nats')];
  try {
    const one = await perSide(sides, oneSession);
    const many = await perSide(sides, manySessions);
    const up = await measureUp(platform, upMaxMs);
    return [
      atMost('separate processes, one session: median against direct', ratio(one, 'svc'), 2, '×', one),
      reported('separate processes, one session: median', median(one.svc ?? []), 'ms'),
      reported(
        'separate processes, one session: against the floor over NATS',
        median(one.svc ?? []) / median(one.floor ?? []),
        '×',
      ),
      atLeast('separate processes, 32 sessions: calls a second against direct', ratio(many, 'svc'), 1.2, '×', many),
      reported('separate processes, 32 sessions: calls a second', median(many.svc ?? []), '/s'),
      reported('separate processes, 32 sessions: floor over NATS against direct', ratio(many, 'floor'), '×'),
      ...up.map((figure) => ({ ...figure, what: `separate processes, ${figure.what}` })),
    ];
  } finally {
    for (const side of sides) side.stop();
  }
}
