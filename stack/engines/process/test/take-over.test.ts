import { readdirSync, renameSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { down } from '../../../operations/down.ts';
import { status } from '../../../operations/status.ts';
import { leaveMcpServer } from '../../../operations/test/left-mcp-server.ts';
import { listen } from '../../../operations/test/trial.ts';
import { findRunning } from '../../../state/find-running.ts';
import { readFailure, readRecord } from '../../../state/platform-record.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { usualPatience } from '../patience.ts';
import { startInBackground } from '../start.ts';
import {
  livingPids,
  openProcessTrial,
  type ProcessTrial,
  partOf,
  running,
  supervise,
  supervisorProgram,
  untilHealthy,
} from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

const sessions = ['sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000'] as const;

const pidsOf = ({ installation }: ProcessTrial) =>
  new Map((readRecord(installation)?.services ?? []).map(({ name, process }) => [name, process?.pid]));

const changed = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) =>
  [...after.keys()].filter((name) => after.get(name) !== before.get(name));

/**
 * Starts the platform as `svc up` does, with the programs of the trial. Returns the reported states except stops, which
 * may be too short to be seen.
 */
async function apply(trial: ProcessTrial, restart: readonly string[] = []): Promise<readonly string[]> {
  const states: string[] = [];
  await startInBackground({
    plan: readPlan(trial.installation),
    restart: new Set(restart),
    env: process.env,
    signal: new AbortController().signal,
    onState: (name, state) => states.push(`${name} ${state}`),
    program: supervisorProgram,
  });
  return states.filter((state) => !state.endsWith(' stopped'));
}

async function killSupervisor({ installation }: ProcessTrial): Promise<void> {
  process.kill(readRecord(installation)?.pid ?? 0, 'SIGKILL');
  await until(() => findRunning(installation)?.isAbandoned === true);
}

/** A trial whose parts run without their supervisor. */
async function openAbandoned(yaml?: Parameters<typeof openProcessTrial>[0]): Promise<ProcessTrial> {
  const trial = await openProcessTrial(yaml);
  await apply(trial);
  await killSupervisor(trial);
  return trial;
}

test('after a kill -9 of the supervisor all parts keep serving, which status shows, until svc down ends them', async () => {
  await using trial = await openAbandoned();
  const { installation } = trial;
  const pids = livingPids(installation);
  expect(pids).toHaveLength(5);
  const seen = await status({ installation });
  expect(seen).toMatchObject({ state: 'degraded', supervisor: { state: 'gone' }, ended: { by: 'outside' } });
  expect(seen.services.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'healthy'));
  const listener = listen();
  expect(await down({ installation, onProgress: listener.onProgress })).toEqual({ outcome: 'stopped' });
  expect(running(pids)).toEqual([]);
  const ended = /was ended from outside.*\n.*backend, remote-mcp, runtime, frontend, nats/;
  expect(listener.notices().join('\n')).toMatch(ended);
  expect(readRecord(installation)).toBeNull();
});

test('the next supervisor adopts the parts, replaces silent and changed ones, and meanwhile restarts what ends', async () => {
  await using trial = await openAbandoned();
  const { installation } = trial;
  const before = pidsOf(trial);
  trial.edit('fromName: The Service Team', 'fromName: The Other Team');
  trial.behave({ backend: { notReady: true } });
  process.kill(before.get('runtime') ?? 0, 'SIGSTOP');
  await using unplanned = await leaveMcpServer(installation, 'runtime-2');
  await using _ = supervise(trial, { ...usualPatience, stumbleMs: 1000 });
  await until(() => partOf(installation, 'backend').state === 'starting');
  process.kill(before.get('frontend') ?? 0, 'SIGKILL');
  await until(() => partOf(installation, 'frontend').endCount === 1);
  await until(() => partOf(installation, 'frontend').state === 'healthy');
  expect(partOf(installation, 'frontend').lastEnds[0]?.reason).toBe('ended in an unknown way');
  expect(partOf(installation, 'backend').state).toBe('starting');
  trial.behave({});
  await untilHealthy(installation);
  expect(changed(before, pidsOf(trial))).toEqual(['backend', 'runtime', 'frontend']);
  await unplanned.ended;
});

test('a supervisor that cannot start leaves the record of the parts', async () => {
  await using trial = await openAbandoned();
  const { installation } = trial;
  const [before, pids] = [readRecord(installation), livingPids(installation)];
  // The supervisor cannot compare a plan without its secrets.
  renameSync(installation.secretsDir, `${installation.secretsDir}.lost`);
  await using supervisor = supervise(trial);
  await expect(supervisor.run).rejects.toThrow('platform: start');
  renameSync(`${installation.secretsDir}.lost`, installation.secretsDir);
  expect([readRecord(installation), livingPids(installation)]).toEqual([before, pids]);
});

test('svc up adds replicas, restarts them one after the other, and takes them away', async () => {
  await using trial = await openAbandoned();
  const { installation } = trial;
  const before = pidsOf(trial);
  trial.edit('  remote-mcp: 1\n  runtime: 1\n', '  remote-mcp: 2\n  runtime: 3\n');
  await apply(trial);
  const services = () => readRecord(installation)?.services.map(({ name, state }) => `${name} ${state}`);
  const apps = ['backend', 'remote-mcp', 'remote-mcp-2', 'runtime', 'runtime-2', 'runtime-3', 'frontend'];
  expect(services()).toEqual([...apps, 'nats', 'caddy'].map((name) => `${name} healthy`));
  expect(readdirSync(installation.logsDir)).toEqual(expect.arrayContaining(['remote-mcp-2.log', 'runtime-3.log']));
  const third = partOf(installation, 'runtime-3').process?.pid ?? 0;

  await killSupervisor(trial);
  trial.edit(...sessions);
  const inTurn = ['remote-mcp', 'remote-mcp-2'];
  expect(await apply(trial)).toEqual(inTurn.flatMap((name) => [`${name} starting`, `${name} healthy`]));

  await killSupervisor(trial);
  trial.edit('  remote-mcp: 2\n  runtime: 3\n', '  remote-mcp: 1\n  runtime: 1\n');
  expect(await apply(trial)).toEqual(['remote-mcp starting', 'remote-mcp healthy']);
  expect(running([third])).toEqual([]);
  expect(changed(before, pidsOf(trial))).toEqual(['remote-mcp']);
  expect([...pidsOf(trial).keys()]).toEqual([...before.keys()]);
});

test('svc restart begins with the parts that no other part needs; where one is not well, with those that it needs', async () => {
  await using trial = await openAbandoned();
  const { installation } = trial;
  const names = ['nats', 'backend', 'runtime', 'frontend', 'remote-mcp'];
  const inTurn = (order: readonly string[]) => order.flatMap((name) => [`${name} starting`, `${name} healthy`]);
  expect(await apply(trial, names)).toEqual(inTurn(names.toReversed()));
  process.kill(pidsOf(trial).get('nats') ?? 0, 'SIGSTOP');
  await killSupervisor(trial);
  expect(await apply(trial, names)).toEqual(inTurn(names));
  expect(readRecord(installation)?.services.map(({ endCount }) => endCount)).toEqual([0, 0, 0, 0, 0]);
});

test('svc up tells which part fails, keeps the others up, and the next one goes on', async () => {
  await using trial = await openAbandoned([['  remote-mcp: 1\n', '  remote-mcp: 2\n']]);
  const { installation } = trial;
  const before = pidsOf(trial);
  trial.edit(...sessions);
  trial.behave({ 'remote-mcp': { crash: 'no room to run' } });
  await expect(apply(trial)).rejects.toMatchObject({
    message: expect.stringMatching(/^remote-mcp failed to get ready: it ended with exit code 3: no room to run/),
    hint: 'Read its log: svc logs remote-mcp',
  });
  expect(readFailure(installation)).toBeNull();
  // Between two starts remote-mcp has no process.
  expect(changed(before, pidsOf(trial)).filter((name) => name !== 'remote-mcp')).toEqual([]);
  // The supervisor keeps restarting remote-mcp.
  const { endCount } = partOf(installation, 'remote-mcp');
  await until(() => partOf(installation, 'remote-mcp').endCount > endCount);
  process.kill(before.get('frontend') ?? 0, 'SIGKILL');
  await until(
    () => partOf(installation, 'frontend').state === 'healthy' && pidsOf(trial).get('frontend') !== undefined,
  );
  trial.behave({});
  await killSupervisor(trial);
  await apply(trial);
  expect(changed(before, pidsOf(trial))).toEqual(['remote-mcp', 'remote-mcp-2', 'frontend']);
});
