import { readDefinition } from '../../definition/check.ts';
import type { Installation } from '../../installation.ts';
import type { ServiceState } from '../../lifecycle/transition.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { readContainers } from './containers-record.ts';
import { reconnectToDaemon } from './daemon.ts';
import { takeDown } from './take-down.ts';

/** `svc down` of a platform in containers. `unchanged`: there were none. */
export async function downContainers(
  installation: Installation,
  onState: (name: string, state: ServiceState) => void,
): Promise<'stopped' | 'unchanged'> {
  const record = readContainers(installation);
  if (record === null) return 'unchanged';
  const daemon = await reconnectToDaemon(record.daemon.socket);
  const definition = readDefinition(installation.definitionFile);
  const logs = openPlatformLogs(installation, definition);
  try {
    const count = await takeDown(installation, { daemon, definition, logs, onState });
    return count === 0 ? 'unchanged' : 'stopped';
  } finally {
    logs.close();
  }
}
