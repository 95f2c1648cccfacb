import type { Subscription } from '../../kit/bus/bus.ts';
import type { WithBus, WithConfig, WithLog } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { createAuthorizer } from './authorize.ts';
import { endExpiredKeys } from './end-expired-keys.ts';
import { answerHandshakes, answerHellos } from './handshake.ts';
import type { WithProcesses } from './processes.ts';
import { answerReports } from './report.ts';
import { removeStatusesOfTheDead } from './statuses.ts';
import { Turns } from './turns.ts';
import { watchProcesses } from './watch-processes.ts';

type RuntimeNeeds = WithGraph & WithBus & WithLog & WithSecrets & WithConfig & WithProcesses;

/** Starts all listeners of the backend for remote-mcp and runtimes on the bus, from admission to noticing their end. */
export async function startRuntimes(backend: RuntimeNeeds): Promise<Subscription> {
  // A bus inside this process is as young as the process: no earlier client can have survived.
  if (backend.config.BUS_SERVERS.includes('inproc:')) await removeStatusesOfTheDead(backend);
  const turns = new Turns();
  const parts = [
    watchProcesses(backend, turns),
    endExpiredKeys(backend, turns),
    answerReports(backend, turns),
    answerHandshakes(backend),
    answerHellos(backend),
    // Last, because an admitted client sends requests at once.
    backend.bus.authorize(createAuthorizer(backend)),
  ];
  return {
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
      await turns.idle();
    },
  };
}
