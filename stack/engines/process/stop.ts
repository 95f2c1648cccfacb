import { readdir } from 'node:fs/promises';
import { describeEnd } from '../../lifecycle/unwanted-end.ts';
import { listeners } from '../../settings/choices.ts';
import { hasEnded, sendSignal } from '../../state/end-process.ts';
import { findRunning } from '../../state/find-running.ts';
import { type Installation, runtimeDirOf } from '../../state/installation.ts';
import { endLeftProcesses, leftProcesses } from '../../state/left-processes.ts';
import { readRecord, removeRecord } from '../../state/platform-record.ts';
import { isAlive, type ProcessIdentity } from '../../state/process-identity.ts';
import type { Stopping } from '../engine.ts';
import { findUnwantedEnd } from './failure.ts';

/** Stops the platform and its MCP servers. Cleans up after a killed platform. */
export async function stopProcesses({ installation, onProgress, signal }: Stopping): Promise<'stopped' | 'unchanged'> {
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const running = findRunning(installation);
  if (running === null) await clearStaleRecord(installation, onNotice);
  if (running?.isAbandoned) await tellEnd(installation, onNotice);
  if (running !== null) await stopRunning(installation, running, { signal, onNotice });
  // A killed platform leaves MCP servers behind. The next platform would end them, but none starts here.
  const ended = await endLeftMcpServers(installation);
  if (ended > 0) onNotice(`${ended} of its MCP servers still ran and ${ended === 1 ? 'was' : 'were'} ended.`);
  if (running === null) return 'unchanged';
  const names = running.record?.services.map(({ name }) => name) ?? listeners;
  for (const name of names) onProgress({ kind: 'service', name, state: 'stopped' });
  return 'stopped';
}

type OnNotice = (message: string) => void;

/** Tells how a platform ended without a stop, and what follows. */
export async function tellEnd(installation: Installation, onNotice: OnNotice, sequel = ''): Promise<void> {
  const end = await findUnwantedEnd(installation);
  if (end !== null) onNotice(`${describeEnd(end)}${sequel}`);
}

/** Removes the record of a platform that ended without a stop. */
export async function clearStaleRecord(installation: Installation, onNotice: OnNotice): Promise<void> {
  const record = readRecord(installation);
  if (record === null || isAlive(record)) return;
  await tellEnd(installation, onNotice, ' Its record was removed.');
  removeRecord(installation);
}

/** Longer than the platform's own deadline. */
const stopTimeoutMs = { embedded: 15_000, distributed: 60_000 } as const;
const killTimeoutMs = 5_000;

/** Stops the platform and waits for its end. Kills one that does not answer, and ends the parts that it left. */
export async function stopRunning(
  installation: Installation,
  platform: ProcessIdentity,
  { signal, onNotice }: Partial<Pick<Stopping, 'signal'>> & { readonly onNotice: OnNotice },
): Promise<void> {
  const timeoutMs = stopTimeoutMs[readRecord(installation)?.topology ?? 'distributed'];
  sendSignal(platform, 'SIGTERM');
  if (!(await hasEnded(platform, timeoutMs, signal))) {
    onNotice(
      `The platform (pid ${platform.pid}) did not stop within ${timeoutMs / 1000} s and was killed; its state is safe.`,
    );
    sendSignal(platform, 'SIGKILL');
    await hasEnded(platform, killTimeoutMs, signal);
  }
  const left = readRecord(installation);
  if (left === null || left.pid !== platform.pid || isAlive(left)) return;
  const ended = await endLeftProcesses(leftProcesses(left));
  if (ended.length > 0) onNotice(`Parts of the platform still ran and were ended: ${ended.join(', ')}.`);
  removeRecord(installation);
}

/** The folders of all runtimes that ever ran here. */
const ofRuntime = /^runtime(-\d+)?$/;

/** Ends MCP servers that killed runtimes left behind. Returns their number. */
export async function endLeftMcpServers(
  installation: Installation,
  isMeant: (part: string) => boolean = () => true,
): Promise<number> {
  const names = await readdir(installation.dataDir).catch(() => []);
  const runtimes = names.filter((name) => ofRuntime.test(name) && isMeant(name));
  if (runtimes.length === 0) return 0;
  const { endLeftBehind } = await import('../../../services/runtime/start.ts');
  const ended = await Promise.all(runtimes.map((name) => endLeftBehind(runtimeDirOf(installation, name))));
  return ended.reduce((sum, count) => sum + count, 0);
}
