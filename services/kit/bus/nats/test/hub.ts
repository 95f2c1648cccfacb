import { createLog } from '../../../log.ts';
import type { Bus } from '../../bus.ts';
import type { TestHub } from '../../contract/test-platform.ts';
import { connectNats } from '../connect.ts';
import { NatsBus } from '../nats-bus.ts';
import { connectRaw } from './raw-client.ts';
import { TestServer } from './server.ts';

export interface NatsTestHub extends TestHub {
  readonly url: string;
}

export async function startHub(folder: string): Promise<NatsTestHub> {
  return hubOn(await TestServer.start(folder));
}

/** A server and the connections to it, as one bus. */
export function hubOn(server: TestServer, write: (line: string) => void = () => undefined): NatsTestHub {
  const logger = createLog({ service: 'test', level: 'warn', destination: { write } })('bus');
  const buses: Bus[] = [];
  return {
    url: server.url,
    async connect(credentials, nonce) {
      const bus = await connectNats({
        ...{ servers: [server.url], caPath: null, persistent: true, nonce, logger },
        credentials: credentials.kind === 'backend' ? { kind: 'backend', seeds: server.seeds } : credentials,
      });
      buses.push(bus);
      return bus;
    },
    connectRaw: (credentials, process) => connectRaw(server.url, credentials, process),
    async stop() {
      await server.stop();
      await Promise.all(buses.map((bus) => bus.close()));
    },
  };
}

export async function reached(bus: Bus): Promise<void> {
  if (bus instanceof NatsBus) await bus.flush();
}
