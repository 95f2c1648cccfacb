import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { request } from '../../../client/http.ts';
import { answers, readReadiness } from '../../../lifecycle/readiness.ts';
import { status } from '../../../operations/status.ts';
import { readyAt } from '../../../parts/part.ts';
import { readFailure, readRecord } from '../../../state/platform-record.ts';
import { secondLoopback } from '../../../test/second-loopback.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import type { Patience } from '../patience.ts';
import { hasty, livingPids, openProcessTrial, openSupervised, running, supervise, untilHealthy } from './trial.ts';

// Each test starts five to eight processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const kill = (supervisor: ReturnType<typeof supervise>, name: string) =>
  process.kill(supervisor.part(name).process?.pid ?? 0, 'SIGKILL');

test('a part is stopped before those that it needs, and no process is left, deaf or a child', async () => {
  await using supervisor = await openSupervised(hasty, { backend: { deaf: true }, runtime: { child: true } });
  const { installation } = supervisor;
  const child = supervisor.childOf('runtime');
  expect(running([child])).toEqual([child]);
  kill(supervisor, 'runtime');
  await until(() => running([child]).length === 0);
  await untilHealthy(installation);
  const pids = [...livingPids(installation), supervisor.childOf('runtime')];
  expect(pids).toHaveLength(6);
  await supervisor.stop();
  expect([running(pids), readRecord(installation)]).toEqual([[], null]);
  const stops = supervisor.states.filter((line) => line.endsWith('stopped'));
  expect([stops[0], ...stops.slice(3)]).toEqual(['remote-mcp stopped', 'backend stopped', 'nats stopped']);
});

test('Caddy is stopped after the parts whose answers go through it', async () => {
  await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 2\n']]);
  await using supervisor = supervise(trial, hasty);
  await untilHealthy(trial.installation);
  await supervisor.stop();
  const stops = supervisor.states.filter((line) => line.endsWith('stopped'));
  expect(stops.slice(0, 3).sort()).toEqual(['caddy stopped', 'remote-mcp stopped', 'remote-mcp-2 stopped']);
  expect(stops[2]).toBe('caddy stopped');
});

test('a stop in the middle of a start ends the started parts', async () => {
  await using trial = await openProcessTrial();
  trial.behave({ runtime: { notReady: true } });
  await using supervisor = supervise(trial, hasty);
  await until(() => supervisor.states.includes('frontend healthy'));
  const pids = livingPids(trial.installation);
  await supervisor.stop();
  expect(running(pids)).toEqual([]);
});

test('a platform whose folder was removed ends, with all of its parts', async () => {
  await using supervisor = await openSupervised(hasty);
  const { installation } = supervisor;
  const pids = livingPids(installation);
  expect(pids).toHaveLength(5);
  rmSync(installation.dir, { recursive: true });
  await supervisor.run;
  expect(running(pids)).toEqual([]);
});

describe('a part that ends without being asked', () => {
  test('is started again where state/ was lost', async () => {
    await using supervisor = await openSupervised();
    const { installation } = supervisor;
    const { url } = supervisor.part('runtime');
    const lost = `${installation.stateDir}.lost`;
    const { pid = 0 } = supervisor.part('runtime').process ?? {};
    renameSync(installation.stateDir, lost);
    process.kill(pid, 'SIGKILL');
    await until(() => supervisor.states.filter((line) => line === 'runtime healthy').length === 2);
    expect((await request({ method: 'GET', url: `${url}/ready`, timeoutMs: 5000 })).status).toBe(200);
    // The files that were written to the new state/ meanwhile are not needed.
    rmSync(installation.stateDir, { recursive: true, force: true });
    renameSync(lost, installation.stateDir);
    const log = readFileSync(join(installation.logsDir, 'platform.log'), 'utf8');
    expect(log).toContain('the record could not be written');
  });

  test.each([
    { behaviour: { crash: 'the page is gone' }, why: 'it ended with exit code 3: the page is gone' },
    { behaviour: { notReady: true as const }, readyMs: 300, why: 'It was not ready within 0.3 s: ' },
  ])('and fails again and again is given up, and the others run on: $behaviour', async (given) => {
    const patience: Patience = { ...hasty };
    await using supervisor = await openSupervised(patience);
    const { installation } = supervisor;
    Object.assign(patience, { readyMs: given.readyMs });
    supervisor.behave({ frontend: given.behaviour });
    kill(supervisor, 'frontend');
    await until(() => supervisor.part('frontend').state === 'failed');
    const { state, services } = await status({ installation });
    expect([state, livingPids(installation).length]).toEqual(['degraded', 4]);
    expect(services.find(({ name }) => name === 'frontend')).toMatchObject({
      ...{ state: 'failed', health: 'red', pid: null, restarts: 4 },
      reason: expect.stringContaining(`Not restarted until the next svc up: it failed to get ready: ${given.why}`),
    });
  });
});

test('a part that runs and no longer answers is killed and restarted', async () => {
  await using supervisor = await openSupervised({ ...hasty, lookMs: 50, silencesMax: 2 });
  const pid = supervisor.part('runtime').process?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  await until(() => supervisor.part('runtime').endCount > 0);
  await untilHealthy(supervisor.installation);
  expect(running([pid])).toEqual([]);
  expect(supervisor.part('runtime').lastEnds[0]?.reason).toBe('stopped answering and was ended');
  // A part that reports not ready is not restarted.
  supervisor.behave({ runtime: { notReady: true } });
  const { url } = supervisor.part('runtime');
  expect(await readReadiness(readyAt(url))).toEqual({ ready: false, missing: 'patience' });
  expect(await answers(readyAt(url))).toBe(true);
});

test('a start that fails names the part and its output, and leaves no process', async () => {
  await using trial = await openProcessTrial([['bind: 127.0.0.1', `bind: "${secondLoopback.host}"`]]);
  const { installation } = trial;
  trial.behave({ runtime: { crash: 'no room to run' } });
  await using supervisor = supervise(trial);
  await expect(supervisor.run).rejects.toThrow('runtime: get ready: it ended with exit code 3: no room to run');
  expect(readFailure(installation)).toMatchObject({ service: 'runtime', check: 'get ready', portTaken: false });
  expect(readRecord(installation)).toBeNull();
  const stopped = supervisor.states.filter((line) => line.endsWith('stopped'));
  expect(stopped.sort()).toEqual(['backend', 'frontend', 'nats', 'runtime'].map((name) => `${name} stopped`));
});

test('a part whose port another program took after the plan was made is not started, and the other program does not pass for it', async () => {
  await using trial = await openProcessTrial();
  const { installation } = trial;
  const port = readPlan(installation).ports.backend;
  // The stranger answers 200 to every request, as a healthy part does.
  const stranger = createServer((_, response) => response.end('{}')).listen(port, '127.0.0.1');
  await once(stranger, 'listening');
  await using supervisor = supervise(trial);
  await expect(supervisor.run).rejects.toThrow(`Port ${port} of backend is in use by "`);
  expect(supervisor.states).not.toContain('backend healthy');
  expect(readFailure(installation)).toMatchObject({ service: 'backend', code: 'conflict', portTaken: true });
  await new Promise((resolve) => stranger.close(resolve));
});

test('a flood of output neither stops a part nor outgrows its log', async () => {
  await using trial = await openProcessTrial([['log file.\n  fileSizeMaxMb: 10', 'log file.\n  fileSizeMaxMb: 1']]);
  await using supervisor = supervise(trial);
  await untilHealthy(trial.installation);
  const before = process.memoryUsage().rss;
  const { url } = supervisor.part('backend');
  const { body } = await request({ method: 'GET', url: `${url}/flood`, timeoutMs: 30_000 });
  expect(body).toBe('done');
  const log = join(trial.installation.logsDir, 'backend.log');
  await until(() => statSync(log).size <= 1024 * 1024);
  // A log may exceed its size by the lines between two checks. It also keeps lines that were written during its copy.
  for (const old of [`${log}.1`, `${log}.2`].filter(existsSync))
    expect(statSync(old).size).toBeLessThan(8 * 1024 * 1024);
  const logs = readdirSync(trial.installation.logsDir).filter((name) => name.startsWith('backend.log'));
  expect(logs.length).toBeLessThan(4);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  expect(supervisor.part('backend').endCount).toBe(0);
});
