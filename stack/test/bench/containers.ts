import { missingFor, startPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported, skipped } from './figure.ts';
import { median } from './load.ts';
import { oneSession, perSide, ratio, sideOf } from './sides.ts';

/** Calls of the same platform in containers and in processes. */
export async function measureContainers(): Promise<Figure[]> {
  const what = 'containers, one session: median against processes';
  const docker = { topology: 'distributed', engine: 'docker' } as const;
  const missing = await missingFor(docker);
  if (missing !== null) return [skipped(what, missing)];
  await using inContainers = await startPlatform(docker);
  await using asProcesses = await startPlatform({ topology: 'distributed' });
  const calls = await perSide([sideOf(inContainers, 'docker'), sideOf(asProcesses, 'process')], oneSession);
  return [
    atMost(what, ratio(calls, 'docker', 'process'), 1.2, '×', calls),
    reported('containers, one session: median', median(calls.docker ?? []), 'ms'),
  ];
}
