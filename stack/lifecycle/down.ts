import { readContainers } from '../engines/docker/containers-record.ts';
import type { Installation } from '../installation.ts';
import { settleMove } from '../move/settle-move.ts';
import { refuseCopy } from '../place/find-original.ts';
import { ensurePrivateFolder } from '../private-folder.ts';
import { listeners } from '../settings/choices.ts';
import { findRunning } from '../state/find-running.ts';
import { acquireLock } from '../state/lock.ts';
import { endLeftMcpServers } from './left-mcp-servers.ts';
import type { Progress } from './progress.ts';
import { clearStaleRecord, stopRunning } from './running-platform.ts';
import type { ServiceState } from './transition.ts';
import { describeEnd, findUnwantedEnd } from './unwanted-end.ts';

export interface DownOptions {
  readonly installation: Installation;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface DownResult {
  /** `unchanged`: nothing was running. */
  readonly outcome: 'stopped' | 'unchanged';
}

/** Stops everything gracefully and keeps all data. */
export async function down({ installation, onProgress, signal }: DownOptions): Promise<DownResult> {
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  const onNotice = (message: string) => onProgress?.({ kind: 'notice', message });
  try {
    refuseCopy(installation);
    await settleMove(installation, onNotice);
    if (readContainers(installation) !== null) {
      const { downContainers } = await import('../engines/docker/down.ts');
      const onState = (name: string, state: ServiceState) => onProgress?.({ kind: 'service', name, state });
      return { outcome: await downContainers(installation, onState) };
    }
    const running = findRunning(installation);
    if (running === null) {
      const cleared = await clearStaleRecord(installation);
      if (cleared !== null) onNotice(cleared);
      await tellLeftMcpServers(installation, onNotice);
      return { outcome: 'unchanged' };
    }
    if (running.isAbandoned) await tellEnd(installation, onNotice);
    await stopRunning(installation, running, { signal, onNotice });
    await tellLeftMcpServers(installation, onNotice);
    const names = running.record?.services.map(({ name }) => name) ?? listeners;
    for (const name of names) onProgress?.({ kind: 'service', name, state: 'stopped' });
    return { outcome: 'stopped' };
  } finally {
    lock.release();
  }
}

async function tellEnd(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const end = await findUnwantedEnd(installation);
  if (end !== null) onNotice(describeEnd(end));
}

/** A platform that was killed, or that cut its own stop short, left its children behind; the next one would end them, but none is to be started here. */
async function tellLeftMcpServers(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const ended = await endLeftMcpServers(installation);
  if (ended > 0) onNotice(`${ended} of its MCP servers still ran and ${ended === 1 ? 'was' : 'were'} ended.`);
}
