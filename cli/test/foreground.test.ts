import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { readRecord } from '../../stack/state/platform-record.ts';
import { startTimeOf } from '../../stack/state/process-identity.ts';
import { until } from '../../stack/test/until.ts';
import { svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a closed terminal stops the platform and every process that it started', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const { dir } = installation;
  const child = spawn(process.execPath, [svcFile, 'up', '--foreground'], { cwd: dir, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', (...how) => resolve(how)));
  const log = join(installation.logsDir, 'platform.log');
  const hasNoted = (message: string) => existsSync(log) && readFileSync(log, 'utf8').includes(`"${message}"`);
  await until(() => hasNoted('started'));
  const pidFile = join(dir, 'child.pid');
  // A program that ignores the end of its input and SIGTERM, so only a kill ends it.
  const program = `
    process.on('SIGTERM', () => {});
    require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
    setInterval(() => {}, 1000);`;
  const backend = await connectToBackend(installation);
  const launch = { command: process.execPath, args: ['-e', program] };
  const found = z.object({ workspace: z.object({ id: z.string() }) });
  const { workspace } = found.parse(await backend.send({ text: '{ workspace(name: "Default") { id } }' }, {}));
  const text =
    'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }';
  await backend.send({ text }, { workspace: workspace.id, input: { name: 'stubborn', launch } });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  child.kill('SIGHUP');
  await until(() => hasNoted('stopping'));
  child.kill('SIGHUP');
  expect(await ended).toEqual([0, null]);
  expect(startTimeOf(Number(readFileSync(pidFile, 'utf8')))).toBeNull();
  expect(readRecord(installation)).toBeNull();
});
