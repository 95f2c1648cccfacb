import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findNatsServer } from '../../kit/bus/nats/test/server.ts';
import { type NatsHub, startNatsHub } from './nats-hub.ts';
import { type Platform, startPlatform } from './platform.ts';
import { openSession } from './raw.ts';
import { TestWorkspace } from './workspace.ts';

/** The streams as the monitoring of NATS lists them (/jsz). */
const listed = z.object({
  account_details: z.array(
    z.object({ stream_detail: z.array(z.object({ name: z.string(), config: z.object({ storage: z.string() }) })) }),
  ),
});

let hub: NatsHub;
let platform: Platform;
afterEach(() => platform.stop());

describe.skipIf(findNatsServer() === null)(
  'on a real server, BUS_PERSISTENT_MESSAGING of backend and remote-mcp',
  () => {
    test.each([
      ['true', 'file'],
      ['false', 'memory'],
    ])('decides whether NATS keeps them on disk or in memory: %s', async (persistent, storage) => {
      hub = await startNatsHub();
      const env = { BUS_SERVERS: hub.url, BUS_PERSISTENT_MESSAGING: persistent };
      platform = await startPlatform({ hub, env, backendEnv: { ...env, ...hub.seeds } });
      const workspace = await TestWorkspace.create(platform, 'acme');
      await openSession(platform.mcpUrl, (await workspace.key('agent')).text);
      const answer = await fetch(`${hub.server.monitoringUrl}/jsz?streams=true&config=true`);
      const { account_details: accounts } = listed.parse(await answer.json());
      const kept = accounts.flatMap(({ stream_detail: streams }) => streams);
      // The backend creates the stream of usage, and remote-mcp the bucket of sessions.
      expect(kept.map(({ name, config }) => [name, config.storage]).sort()).toEqual([
        ['KV_sessions', storage],
        ['usage', storage],
      ]);
    });
  },
);
