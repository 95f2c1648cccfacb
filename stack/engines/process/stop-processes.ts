import { describeEnd } from '../../lifecycle/unwanted-end.ts';
import { listeners } from '../../settings/choices.ts';
import { findRunning } from '../../state/find-running.ts';
import type { Installation } from '../../state/installation.ts';
import type { Stopping } from '../engine.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';
import { endLeftMcpServers } from './left-mcp-servers.ts';
import { clearStaleRecord, stopRunning } from './running-platform.ts';

/** Stops the platform and its MCP servers. Cleans up after a killed platform. */
export async function stopProcesses({ installation, onProgress, signal }: Stopping): Promise<'stopped' | 'unchanged'> {
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const running = findRunning(installation);
  if (running === null) {
    const cleared = await clearStaleRecord(installation);
    if (cleared !== null) onNotice(cleared);
    await tellLeftMcpServers(installation, onNotice);
    return 'unchanged';
  }
  if (running.isAbandoned) await tellEnd(installation, onNotice);
  await stopRunning(installation, running, { signal, onNotice });
  await tellLeftMcpServers(installation, onNotice);
  const names = running.record?.services.map(({ name }) => name) ?? listeners;
  for (const name of names) onProgress({ kind: 'service', name, state: 'stopped' });
  return 'stopped';
}

async function tellEnd(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const end = await findUnwantedEnd(installation);
  if (end !== null) onNotice(describeEnd(end));
}

/** A killed platform leaves MCP servers behind. The next platform would end them, but none starts here. */
async function tellLeftMcpServers(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const ended = await endLeftMcpServers(installation);
  if (ended > 0) onNotice(`${ended} of its MCP servers still ran and ${ended === 1 ? 'was' : 'were'} ended.`);
}
