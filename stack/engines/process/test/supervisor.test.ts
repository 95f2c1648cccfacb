import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { request } from '../../../client/http.ts';
import { answers, readReadiness } from '../../../lifecycle/readiness.ts';
import { isFree } from '../../../machine/is-free.ts';
import { status } from '../../../operations/status.ts';
import { readyAt } from '../../../parts/part.ts';
import { readFailure, readRecord } from '../../../state/platform-record.ts';
import { startTimeOf } from '../../../state/process-identity.ts';
import { hasIpv6 } from '../../../test/second-loopback.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { usualPatience } from '../patience.ts';
import { hasty, livingPids, openProcessTrial, openSupervised, supervise, untilHealthy } from './trial.ts';

// Each test starts five to eight processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const names = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];

describe('parts as processes', () => {
  test('each has its own, starts after those it needs, and nothing of it is left', async () => {
    await using supervisor = await openSupervised();
    const { installation } = supervisor;
    const record = readRecord(installation);
    expect(record?.services.map(({ name }) => name)).toEqual(names);
    expect(new Set(livingPids(installation)).size).toBe(5);
    const at = (line: string) => supervisor.states.indexOf(line);
    for (const [first, next] of [
      ['nats healthy', 'backend starting'],
      ['backend healthy', 'runtime starting'],
      ['backend healthy', 'frontend starting'],
      ['runtime healthy', 'remote-mcp starting'],
      ['frontend healthy', 'remote-mcp starting'],
    ] as const) {
      expect(at(first), `${first} before ${next}`).toBeLessThan(at(next));
      expect(at(first)).toBeGreaterThan(-1);
    }
    const pids = livingPids(installation);
    const seen = await status({ installation });
    expect(seen.topology).toBe('distributed');
    expect(seen.services.map(({ name, state, pid }) => [name, state, pid])).toEqual(
      names.map((name) => [name, 'healthy', supervisor.part(name).process?.pid]),
    );
    await supervisor.stop();
    expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
    expect(readRecord(installation)).toBeNull();
    for (const { url } of record?.services ?? [])
      expect(await isFree('127.0.0.1', Number(new URL(url).port))).toBe(true);
    const stops = supervisor.states.filter((line) => line.endsWith('stopped'));
    expect([stops[0], ...stops.slice(3)]).toEqual(['remote-mcp stopped', 'backend stopped', 'nats stopped']);
  });

  test('their environments have no secret, and only the needed variables of the shell', async () => {
    await using supervisor = await openSupervised();
    for (const name of names.slice(0, 4)) {
      const url = supervisor.part(name).ready.url.replace('/ready', '/environment');
      const { body } = await request({ method: 'GET', url, timeoutMs: 5000 });
      const environment: Record<string, string> = JSON.parse(body);
      expect(environment, name).toMatchObject({ NODE_ENV: 'production', PATH: process.env.PATH });
      expect(body, name).not.toContain('stray');
      for (const file of readdirSync(supervisor.installation.secretsDir).filter((one) =>
        /\.(key|seed|pem)$/.test(one),
      )) {
        const secret = readFileSync(join(supervisor.installation.secretsDir, file), 'utf8').trim();
        expect(body, `${file} in ${name}`).not.toContain(secret);
      }
    }
  });
});

test('a platform whose folder was removed ends, with all of its parts', async () => {
  await using supervisor = await openSupervised(hasty);
  const { installation } = supervisor;
  const pids = livingPids(installation);
  expect(pids).toHaveLength(names.length);
  rmSync(installation.dir, { recursive: true });
  await supervisor.run;
  expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
});

describe('a part that ends without being asked', () => {
  test('is started again where state/ was lost', async () => {
    await using supervisor = await openSupervised();
    const { installation } = supervisor;
    const { url, process: runtime } = supervisor.part('runtime');
    const lost = `${installation.stateDir}.lost`;
    renameSync(installation.stateDir, lost);
    process.kill(runtime?.pid ?? 0, 'SIGKILL');
    await until(() => supervisor.states.filter((line) => line === 'runtime healthy').length === 2);
    expect((await request({ method: 'GET', url: `${url}/ready`, timeoutMs: 5000 })).status).toBe(200);
    // Files that were written there meanwhile are not needed.
    rmSync(installation.stateDir, { recursive: true, force: true });
    renameSync(lost, installation.stateDir);
    const log = readFileSync(join(installation.logsDir, 'platform.log'), 'utf8');
    expect(log).toContain('the record could not be written');
  });

  test('takes its children along', async () => {
    await using supervisor = await openSupervised(usualPatience, { runtime: { child: true } });
    const child = supervisor.childOf('runtime');
    expect(startTimeOf(child)).not.toBeNull();
    process.kill(supervisor.part('runtime').process?.pid ?? 0, 'SIGKILL');
    await until(() => startTimeOf(child) === null);
    await untilHealthy(supervisor.installation);
  });

  test('again and again is given up, with its last words, and the others run on', async () => {
    await using supervisor = await openSupervised(hasty);
    const { installation } = supervisor;
    supervisor.behave({ frontend: { crash: 'the page is gone' } });
    process.kill(supervisor.part('frontend').process?.pid ?? 0, 'SIGKILL');
    await until(() => supervisor.part('frontend').state === 'failed');
    expect(supervisor.part('frontend').endCount).toBe(4);
    const seen = await status({ installation });
    expect(seen.state).toBe('degraded');
    expect(seen.services.filter(({ state }) => state === 'healthy')).toHaveLength(4);
    const why = 'it failed to get ready: it ended with exit code 3: the page is gone.';
    expect(seen.services.find(({ name }) => name === 'frontend')).toMatchObject({
      ...{ state: 'failed', health: 'red', pid: null, restarts: 4 },
      reason: `Not restarted until the next svc up: ${why}`,
    });
  });

  test('and does not get ready any more is killed and counted', async () => {
    const patience = { ...hasty };
    await using supervisor = await openSupervised(patience);
    patience.readyMs = 300;
    supervisor.behave({ frontend: { notReady: true } });
    process.kill(supervisor.part('frontend').process?.pid ?? 0, 'SIGKILL');
    await until(() => supervisor.part('frontend').state === 'failed');
    const reason = supervisor.part('frontend').lastEnds.at(-1)?.reason;
    expect(reason).toMatch(/^failed to get ready: It was not ready within 0\.3 s: /);
    expect(livingPids(supervisor.installation)).toHaveLength(4);
  });
});

test('a part that runs and no longer answers is killed and restarted', async () => {
  await using supervisor = await openSupervised({ ...hasty, lookMs: 50, silencesMax: 2 });
  const { installation } = supervisor;
  const pid = supervisor.part('runtime').process?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  await until(() => supervisor.part('runtime').endCount > 0);
  await untilHealthy(installation);
  expect(startTimeOf(pid)).toBeNull();
  expect(supervisor.part('runtime').lastEnds[0]?.reason).toBe('stopped answering and was ended');
  // A part that answers that it is not ready is not restarted.
  supervisor.behave({ runtime: { notReady: true } });
  const { url } = supervisor.part('runtime');
  expect(await readReadiness(readyAt(url))).toEqual({ ready: false, missing: 'patience' });
  expect(await answers(readyAt(url))).toBe(true);
});

describe('a start that fails', () => {
  test.skipIf(!hasIpv6)('recognises an address with brackets as well', async () => {
    await using trial = await openProcessTrial([['bind: 127.0.0.1', 'bind: "::1"']]);
    trial.behave({ runtime: { crash: 'no room to run' } });
    await using supervisor = supervise(trial);
    await expect(supervisor.run).rejects.toThrow('runtime: get ready: it ended with exit code 3: no room to run');
  });

  test('names the part and its output, and leaves no process', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    trial.behave({ runtime: { crash: 'no room to run' } });
    await using supervisor = supervise(trial);
    await expect(supervisor.run).rejects.toThrow('runtime: get ready: it ended with exit code 3: no room to run');
    expect(readFailure(installation)).toMatchObject({ service: 'runtime', check: 'get ready', portTaken: false });
    expect(readRecord(installation)).toBeNull();
    const stopped = supervisor.states.filter((line) => line.endsWith('stopped'));
    expect(stopped.sort()).toEqual(['backend', 'frontend', 'nats', 'runtime'].map((name) => `${name} stopped`));
  });
});

test.each(['backend', 'frontend'] as const)(
  'the port of %s that another program took after the plan was made: it is not started, and the other program does not pass for it',
  async (name) => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    const port = readPlan(installation).ports[name];
    // Answers 200 to everything, as a healthy part does.
    const stranger = createServer((_, response) => response.end('{}')).listen(port, '127.0.0.1');
    await once(stranger, 'listening');
    await using supervisor = supervise(trial);
    await expect(supervisor.run).rejects.toThrow(`Port ${port} of ${name} is in use by "`);
    expect(supervisor.states).not.toContain(`${name} healthy`);
    expect(readFailure(installation)).toMatchObject({ service: name, code: 'conflict', portTaken: true });
    await new Promise((resolve) => stranger.close(resolve));
  },
);

describe('a stop', () => {
  test('kills a part that ignores SIGTERM, and the children of a part', async () => {
    await using supervisor = await openSupervised(hasty, { backend: { deaf: true }, runtime: { child: true } });
    const pids = [...livingPids(supervisor.installation), supervisor.childOf('runtime')];
    expect(pids).toHaveLength(6);
    await supervisor.stop();
    expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
  });

  test('in the middle of a start ends the started parts', async () => {
    await using trial = await openProcessTrial();
    trial.behave({ runtime: { notReady: true } });
    await using supervisor = supervise(trial, hasty);
    await until(() => supervisor.states.includes('frontend healthy'));
    const pids = livingPids(trial.installation);
    await supervisor.stop();
    expect(pids.filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
  });
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
  // A log may exceed its size by the lines between two checks, and keeps lines that were written while it was copied.
  for (const old of [`${log}.1`, `${log}.2`].filter(existsSync))
    expect(statSync(old).size).toBeLessThan(8 * 1024 * 1024);
  const logs = readdirSync(trial.installation.logsDir).filter((name) => name.startsWith('backend.log'));
  expect(logs.length).toBeLessThan(4);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  expect(supervisor.part('backend').endCount).toBe(0);
});
