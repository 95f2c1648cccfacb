import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { down } from '../../../operations/down.ts';
import { status } from '../../../operations/status.ts';
import { leaveMcpServer } from '../../../operations/test/left-mcp-server.ts';
import { listen } from '../../../operations/test/trial.ts';
import { findRunning } from '../../../state/find-running.ts';
import { readRecord } from '../../../state/platform-record.ts';
import { startTimeOf } from '../../../state/process-identity.ts';
import { until } from '../../../test/until.ts';
import {
  livingPids,
  openProcessTrial,
  type ProcessTrial,
  partOf,
  spawnSupervisor,
  supervise,
  untilHealthy,
} from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A supervisor in a process that the test kills. */
async function abandon(trial: ProcessTrial): Promise<readonly number[]> {
  const supervisor = spawnSupervisor(trial);
  await untilHealthy(trial.installation);
  const pids = livingPids(trial.installation);
  supervisor.kill('SIGKILL');
  await until(() => findRunning(trial.installation)?.isAbandoned === true);
  return pids;
}

describe('after a kill -9 of the supervisor', () => {
  test('all parts keep serving, which status shows, until svc down ends them', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    const pids = await abandon(trial);
    expect(pids).toHaveLength(5);
    const seen = await status({ installation });
    expect(seen).toMatchObject({ state: 'degraded', supervisor: { state: 'gone' }, ended: { by: 'outside' } });
    expect(seen.services.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'healthy'));
    const told = listen();
    expect(await down({ installation, onProgress: told.onProgress })).toEqual({ outcome: 'stopped' });
    expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
    const ended = /was ended from outside.*\n.*backend, remote-mcp, runtime, frontend, nats/;
    expect(told.notices().join('\n')).toMatch(ended);
    expect(readRecord(installation)).toBeNull();
  });

  test('the next one adopts them unchanged, and restarts them when they end', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    const pids = await abandon(trial);
    await using _ = supervise(trial);
    await until(() => readRecord(installation)?.pid === process.pid);
    await untilHealthy(installation);
    expect(livingPids(installation)).toEqual(pids);
    process.kill(partOf(installation, 'runtime').process?.pid ?? 0, 'SIGKILL');
    await until(() => partOf(installation, 'runtime').endCount === 1);
    await untilHealthy(installation);
    expect(partOf(installation, 'runtime').lastEnds[0]?.reason).toBe('ended in an unknown way');
    expect(livingPids(installation).filter((pid) => !pids.includes(pid))).toHaveLength(1);
  });

  test('MCP servers of a runtime that is wanted no more are ended', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await abandon(trial);
    await using left = await leaveMcpServer(installation, 'runtime-2');
    await using _ = supervise(trial);
    await left.ended;
    await untilHealthy(installation);
  });

  test('a part that is killed while another one is replaced is restarted at once', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await abandon(trial);
    trial.edit('fileSizeMaxMb: 10\n', 'fileSizeMaxMb: 11\n');
    trial.behave({ backend: { notReady: true } });
    await using _ = supervise(trial);
    await until(() => partOf(installation, 'backend').state === 'starting');
    const frontend = partOf(installation, 'frontend').process?.pid ?? 0;
    process.kill(frontend, 'SIGKILL');
    await until(() => partOf(installation, 'frontend').endCount === 1);
    await until(() => partOf(installation, 'frontend').state === 'healthy');
    expect(partOf(installation, 'backend').state).toBe('starting');
  });

  test('a supervisor that cannot start leaves their record', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    const pids = await abandon(trial);
    const before = readRecord(installation);
    // Without secrets a plan cannot be compared.
    renameSync(installation.secretsDir, `${installation.secretsDir}.lost`);
    await using supervisor = supervise(trial);
    await expect(supervisor.run).rejects.toThrow('platform: start');
    renameSync(`${installation.secretsDir}.lost`, installation.secretsDir);
    expect(readRecord(installation)).toEqual(before);
    expect(livingPids(installation)).toEqual(pids);
  });
});

test('a supervisor that no longer answers is reported', async () => {
  await using trial = await openProcessTrial();
  const { installation } = trial;
  const supervisor = spawnSupervisor(trial);
  await untilHealthy(installation);
  expect(await status({ installation })).toMatchObject({ state: 'running', supervisor: { state: 'running' } });
  supervisor.kill('SIGSTOP');
  await until(async () => (await status({ installation })).state === 'degraded', 5000);
  expect((await status({ installation })).supervisor).toEqual({ pid: supervisor.pid, state: 'silent' });
  supervisor.kill('SIGCONT');
  await until(async () => (await status({ installation })).state === 'running');
});

test('a process whose id is not recorded yet ends with its supervisor, and has done nothing', async () => {
  await using trial = await openProcessTrial();
  const file = join(trial.dir, 'ran');
  const program = fileURLToPath(new URL('./hold.ts', import.meta.url));
  const holder = spawn(process.execPath, [program, join(trial.dir, 'hold.log'), file], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: holder.stdout }), 'line');
  expect(startTimeOf(Number(line))).not.toBeNull();
  holder.kill('SIGKILL');
  await until(() => startTimeOf(Number(line)) === null);
  expect(existsSync(file)).toBe(false);
});
