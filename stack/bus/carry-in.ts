import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { carryBus } from '../move/carry-bus.ts';
import { busSeedsOf } from '../secrets.ts';
import { carriedFile, keyMaxAgeOf } from './bus-folders.ts';

/**
 * Gives the nodes, which run, what others kept before them. It is done before a backend is there, so that nobody has changed anything meanwhile;
 * cut short it is done again, and usage that came twice is counted once.
 */
export async function carryIn(plan: Plan): Promise<void> {
  const { installation, environment, secrets } = plan;
  const file = join(installation.dataDir, carriedFile);
  if (!existsSync(file)) return;
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  const from = await openBusContent({ engine: 'sqlite', file, keyMaxAgeMs });
  try {
    const { BUS_SERVERS: servers = '', BUS_CA_PATH: caPath = null } = environment.backend;
    const shown = {
      engine: 'nats',
      servers: servers.split(','),
      caPath,
      seeds: busSeedsOf(secrets),
      keyMaxAgeMs,
    } as const;
    const to = await openBusContent(shown);
    try {
      await carryBus(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  rmSync(file);
}
