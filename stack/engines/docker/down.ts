import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { ServiceState } from '../../state/transition.ts';
import { reconnectToDaemon } from './daemon.ts';
import { idIn } from './names.ts';
import { refuseOtherFolder } from './refuse-other-folder.ts';
import { takeDown } from './take-down.ts';

/** Stops the platform that the record describes, because svc.yaml may have changed since. `unchanged`: no container existed. */
export async function downContainers(
  installation: Installation,
  onState: (name: string, state: ServiceState) => void,
): Promise<'stopped' | 'unchanged'> {
  const record = readContainers(installation);
  const [first] = record?.services ?? [];
  if (record === null || first === undefined) return 'unchanged';
  const daemon = await reconnectToDaemon(record.daemon.socket);
  const id = idIn(first.container, first.name);
  await refuseOtherFolder(daemon.docker, installation, id);
  const logs = openPlatformLogs(installation, { logs: limitsIn(record) });
  try {
    const count = await takeDown(installation, { daemon, id, logs, onState });
    return count === 0 ? 'unchanged' : 'stopped';
  } finally {
    logs.close();
  }
}

function limitsIn({ settings }: ContainersRecord) {
  return {
    fileSizeMaxMb: Number(settings['logs.fileSizeMaxMb']),
    filesKept: Number(settings['logs.filesKept']),
  };
}
