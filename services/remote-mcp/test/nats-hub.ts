import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus, Hub } from '../../kit/bus/bus.ts';
import { connectNats } from '../../kit/bus/nats/connect.ts';
import { TestServer } from '../../kit/bus/nats/test/server.ts';
import { createLog } from '../../kit/log.ts';

export interface NatsHub extends Hub {
  /** The address, as in BUS_SERVERS. */
  readonly url: string;
  readonly server: TestServer;
  /** Variables with which a backend proves itself. */
  readonly seeds: Readonly<Record<string, string>>;
}

/** A real server that separate processes can connect to. */
export async function startNatsHub(): Promise<NatsHub> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nats-'));
  const server = await TestServer.start(folder);
  const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
  const buses: Bus[] = [];
  return {
    url: server.url,
    server,
    seeds: {
      BUS_CALLOUT_SEED: server.seeds.callout.reveal(),
      BUS_SYSTEM_SEED: server.seeds.system.reveal(),
      BUS_ISSUER_SEED: server.seeds.issuer.reveal(),
    },
    async connect(given, nonce) {
      const credentials = given.kind === 'backend' ? { kind: given.kind, seeds: server.seeds } : given;
      const bus = await connectNats({
        ...{ servers: [server.url], caPath: null, persistent: true },
        ...{ credentials, nonce, logger },
      });
      buses.push(bus);
      return bus;
    },
    async stop() {
      await server.stop();
      await Promise.all(buses.map((bus) => bus.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
