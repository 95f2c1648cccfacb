import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { connectToBackend } from '../../client/backend-client.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { findRunning } from '../../state/find-running.ts';
import { lockHolder } from '../../state/lock.ts';
import { readRecord, writeRecord } from '../../state/platform-record.ts';
import { startTimeOf } from '../../state/process-identity.ts';
import { editDefinition } from '../../test/edit-definition.ts';
import { until } from '../../test/until.ts';
import { addMcpServer, occupy, pidOf, readWorkspaces } from './installed.ts';
import { listen, openTrial, platformsOf, startCommand } from './trial.ts';

// Each test starts the platform one to three times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

describe('killed', () => {
  test('the platform, while it runs: status and up report it, and up repairs; svc down, while it waits: the next one finishes', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const begun = Date.now();
    await trial.up();
    const [pid = 0] = platformsOf(installation);
    process.kill(pid, 'SIGKILL');
    await until(() => findRunning(installation) === null);
    const seen = await trial.status();
    expect(seen).toMatchObject({
      state: 'stopped',
      ended: { by: 'outside', pid, reason: null, lastLogLine: expect.stringMatching(/^[a-z-]+ info /) },
    });
    expect(seen.services.map(({ state, since }) => [state, since])).toEqual(
      Array.from({ length: 4 }, () => ['stopped', seen.ended?.at]),
    );
    expect(Date.parse(seen.ended?.at ?? '')).toBeGreaterThanOrEqual(begun - 1000);
    const listener = listen();
    const again = await trial.up({ onProgress: listener.onProgress });
    expect([again.outcome, again.status.ended]).toEqual(['started', null]);
    const how = `was ended from outside (not by svc down), at about ${seen.ended?.at}; its last log line: ${seen.ended?.lastLogLine}.`;
    expect(listener.notices()).toEqual([`The previous platform (pid ${pid}) ${how} Its record was removed.`]);
    // The paused platform cannot answer, so the command is killed while it waits.
    process.kill(pidOf(installation), 'SIGSTOP');
    const { child, ended } = startCommand('down', installation);
    await until(() => lockHolder(installation, 'command')?.pid === child.pid);
    child.kill('SIGKILL');
    await ended;
    process.kill(pidOf(installation), 'SIGCONT');
    await trial.down();
    expect(platformsOf(installation)).toEqual([]);
    expect((await trial.status()).ended).toBeNull();
  });

  test('the platform, and then its number is that of another process, and data/ and logs/ are gone: down clears away and hits nobody', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await trial.up();
    process.kill(pidOf(installation), 'SIGKILL');
    await until(() => findRunning(installation) === null);
    const record = readRecord(installation) ?? expect.fail('nothing ran');
    const { pid } = process;
    writeRecord(installation, { ...record, pid });
    for (const folder of ['data', 'logs']) {
      rmSync(join(installation.dir, folder), { recursive: true });
      expect(await trial.status()).toMatchObject({ state: 'stopped', ended: { by: 'outside', pid } });
    }
    const listener = listen();
    expect(await trial.down({ onProgress: listener.onProgress })).toEqual({ outcome: 'unchanged' });
    expect(listener.notices()).toHaveLength(1);
    expect(readRecord(installation)).toBeNull();
  });

  test.each(['down', 'down after a failed up', 'a down that was under way'] as const)(
    'the platform, with an MCP server that does not end by itself: %s ends it',
    async (verb) => {
      await using trial = await openTrial();
      const { installation } = trial;
      await trial.up();
      const pidFile = join(installation.dir, 'child.pid');
      // The MCP server reads and answers nothing, and does not notice the end of the platform.
      const program = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
      await addMcpServer(installation, {
        name: 'stubborn',
        launch: { command: process.execPath, args: ['-e', program] },
      });
      await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
      const child = Number(readFileSync(pidFile, 'utf8'));
      const { onProgress, notices } = listen();
      // The paused platform cannot end its children. To a down that waits for its end, it seems to end by itself.
      process.kill(pidOf(installation), 'SIGSTOP');
      const underWay = verb === 'a down that was under way' ? trial.down({ onProgress }) : null;
      process.kill(pidOf(installation), 'SIGKILL');
      await until(() => findRunning(installation) === null);
      if (underWay === null) expect(startTimeOf(child)).not.toBeNull();
      if (verb === 'down after a failed up') {
        const stranger = await occupy(trial.ports[0] ?? 0);
        await expect(trial.up({ onProgress })).rejects.toMatchObject({ code: 'conflict' });
        await new Promise((resolve) => stranger.close(resolve));
      }
      await (underWay ?? trial.down({ onProgress }));
      // The kernel ends the threads of a killed process a moment after the process.
      await until(() => startTimeOf(child) === null, 1000);
      expect(notices().at(-1)).toBe('1 of its MCP servers still ran and was ended.');
    },
  );

  test.each([100, 400, 700])('svc up, %i ms after it began: the next one repairs', async (delayMs) => {
    await using trial = await openTrial();
    const { installation } = trial;
    const { child, ended } = startCommand('up', installation);
    setTimeout(() => child.kill('SIGKILL'), delayMs);
    await ended;
    expect(await trial.up()).toMatchObject({ status: { state: 'running' } });
    expect(platformsOf(installation)).toHaveLength(1);
    expect(await readWorkspaces(installation)).toHaveLength(1);
    await trial.down();
    expect(platformsOf(installation)).toEqual([]);
  });

  test.each([0, 250])('the platform, %i ms into its start: up reports it, the next one works', async (delayMs) => {
    await using trial = await openTrial();
    const { installation } = trial;
    const starting = trial.up().catch((error: Error) => error);
    await until(() => platformsOf(installation).length === 1);
    const [pid = 0] = platformsOf(installation);
    setTimeout(() => process.kill(pid, 'SIGKILL'), delayMs);
    expect(await starting).toMatchObject({
      message: expect.stringContaining(`The platform (pid ${pid}) ended without saying why.`),
    });
    expect(await trial.up()).toMatchObject({ status: { state: 'running' } });
    expect(await readWorkspaces(installation)).toHaveLength(1);
  });
});

test('where state/ was lost while it runs, every command says that it runs, up restarts it on its ports, and down stops it', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  // A bus with its messages on disk would also refuse a second platform. Here only the check of svc may refuse it.
  editDefinition(installation, 'persistentMessaging: true', 'persistentMessaging: false');
  await trial.up();
  const pid = pidOf(installation);
  const loseState = () => renameSync(installation.stateDir, `${installation.stateDir}.${pidOf(installation)}`);
  loseState();
  const seen = await trial.status();
  expect(seen).toMatchObject({ state: 'degraded', ended: null });
  expect(seen.services.map((service) => service.pid)).toEqual([pid, pid, pid, pid]);
  await expect(connectToBackend(installation)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`(pid ${pid})`),
  });
  await expect(trial.up({ foreground: true })).rejects.toMatchObject({
    code: 'conflict',
    message: `The platform runs already, in the background (pid ${pid}).`,
  });
  const listener = listen();
  expect(await trial.up({ onProgress: listener.onProgress })).toMatchObject({
    outcome: 'restarted',
    status: { state: 'running' },
  });
  expect(listener.notices()).toContain(`The platform (pid ${pid}) runs, but state/ does not say how: it restarts.`);
  expect(platformsOf(installation)).toEqual([pidOf(installation)]);
  expect(pidOf(installation)).not.toBe(pid);
  loseState();
  expect(await trial.down()).toEqual({ outcome: 'stopped' });
  expect(platformsOf(installation)).toEqual([]);
  expect(await trial.down()).toEqual({ outcome: 'unchanged' });
});

describe('a platform that nobody waits for', () => {
  test('does not come up after svc down where svc up was killed before it was to be seen', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const { child, ended } = startCommand('up', installation);
    await until(() => platformsOf(installation).length === 1);
    const [pid = 0] = platformsOf(installation);
    process.kill(pid, 'SIGSTOP');
    child.kill('SIGKILL');
    await ended;
    // On a fast machine svc may find the platform already. Then svc down stops it, for which its process must continue.
    if (findRunning(installation) !== null) process.kill(pid, 'SIGCONT');
    await trial.down();
    if (startTimeOf(pid) !== null) process.kill(pid, 'SIGCONT');
    await until(() => startTimeOf(pid) === null);
    expect(findRunning(installation)).toBeNull();
    expect(await trial.status()).toMatchObject({ state: 'stopped', ended: null });
  });

  test('ends before it has touched anything', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const program = fileURLToPath(new URL('../../engines/process/main.ts', import.meta.url));
    const starter = startCommand('down', installation);
    await starter.ended;
    const args = ['--dir', installation.dir, '--ports', JSON.stringify(readPlan(installation).ports)];
    const startedBy = ['--started-by', String(starter.child.pid)];
    const child = spawn(process.execPath, [program, ...args, ...startedBy], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    expect(readRecord(installation)).toBeNull();
  });
});
