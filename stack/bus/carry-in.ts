import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { carryBlobs } from '../../services/backend/files/content.ts';
import { openBlobsContent } from '../../services/backend/files/open-content.ts';
import { openBusContent } from '../../services/kit/bus/open-content.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { carryBus } from '../move/carry-bus.ts';
import { busSeedsOf } from '../secrets.ts';
import { carriedBlobs, carriedBus, carriedFolder, keepsBlobs, keyMaxAgeOf } from './bus-folders.ts';

/**
 * Gives the nodes, which run, what others kept before them. It is done before a backend is there, so that nobody has changed anything meanwhile;
 * cut short it is done again, and usage that came twice is counted once.
 */
export async function carryIn(plan: Plan, signal: AbortSignal): Promise<void> {
  const { installation, environment, secrets } = plan;
  const dir = join(installation.dataDir, carriedFolder);
  if (!existsSync(dir)) return;
  const keyMaxAgeMs = keyMaxAgeOf(plan);
  const { BUS_SERVERS: servers = '', BUS_CA_PATH: caPath = null } = environment.backend;
  const shown = { servers: servers.split(','), caPath, seeds: busSeedsOf(secrets) };
  const from = await openBusContent({ engine: 'sqlite', file: join(dir, carriedBus), keyMaxAgeMs });
  try {
    const to = await openBusContent({ engine: 'nats', ...shown, keyMaxAgeMs });
    try {
      await carryBus(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  if (keepsBlobs(plan)) {
    await using here = await openBlobsContent({ engine: 'folder', dir: join(dir, carriedBlobs) });
    await using there = await openBlobsContent({ engine: 'jetstream', ...shown });
    await carryBlobs(here.blobs, there.blobs, signal);
  }
  rmSync(dir, { recursive: true });
}
