import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { readFailure, readRecord } from '../../../state/platform-record.ts';
import { isAlive, startTimeOf } from '../../../state/process-identity.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { startInBackground } from '../start.ts';
import {
  hasty,
  openProcessTrial,
  type ProcessTrial,
  partOf,
  spawnSupervisor,
  supervise,
  supervisorProgram,
  untilHealthy,
} from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

const pidsOf = ({ installation }: ProcessTrial) =>
  new Map((readRecord(installation)?.services ?? []).map(({ name, process }) => [name, process?.pid]));

const changed = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) =>
  [...after.keys()].filter((name) => after.get(name) !== before.get(name));

const sessions = ['sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000'] as const;

async function start(trial: ProcessTrial): Promise<ChildProcess> {
  const supervisor = spawnSupervisor(trial);
  await until(() => readRecord(trial.installation)?.isChanging === false, 40_000);
  return supervisor;
}

/** Ends the supervisor as `svc up` does. */
async function endSupervisor({ installation }: ProcessTrial): Promise<void> {
  const supervisor = readRecord(installation) ?? expect.fail('no supervisor runs');
  process.kill(supervisor.pid, 'SIGKILL');
  await until(() => !isAlive(supervisor));
}

/** Does what `svc up` does, with the programs of the trial. Returns the reported states. A stop may be too short to be seen. */
async function apply(trial: ProcessTrial): Promise<readonly string[]> {
  const states: string[] = [];
  await endSupervisor(trial);
  await startInBackground({
    plan: readPlan(trial.installation),
    env: process.env,
    signal: new AbortController().signal,
    onState: (name, state) => states.push(`${name} ${state}`),
    program: supervisorProgram,
  });
  return states.filter((state) => !state.endsWith(' stopped'));
}

describe('svc up, while it runs', () => {
  test('restarts replicas one after the other', async () => {
    await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 3\n']]);
    await start(trial);
    trial.edit(...sessions);
    const inTurn = ['remote-mcp', 'remote-mcp-2', 'remote-mcp-3'];
    expect(await apply(trial)).toEqual(
      inTurn.flatMap((name) => ['starting', 'healthy'].map((state) => `${name} ${state}`)),
    );
  });

  test('adds replicas and takes them away', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await start(trial);
    const before = pidsOf(trial);
    trial.edit('  remote-mcp: 1\n  runtime: 1\n', '  remote-mcp: 2\n  runtime: 3\n');
    await apply(trial);
    const services = () => readRecord(installation)?.services.map(({ name, state }) => `${name} ${state}`);
    const apps = ['backend', 'remote-mcp', 'remote-mcp-2', 'runtime', 'runtime-2', 'runtime-3', 'frontend'];
    expect(services()).toEqual([...apps, 'nats', 'caddy'].map((name) => `${name} healthy`));
    expect(readdirSync(installation.logsDir)).toEqual(expect.arrayContaining(['remote-mcp-2.log', 'runtime-3.log']));
    const third = partOf(installation, 'runtime-3').process?.pid ?? 0;
    trial.edit('  remote-mcp: 2\n  runtime: 3\n', '  remote-mcp: 1\n  runtime: 1\n');
    expect(await apply(trial)).toEqual(['remote-mcp starting', 'remote-mcp healthy']);
    expect(startTimeOf(third)).toBeNull();
    expect(changed(before, pidsOf(trial))).toEqual(['remote-mcp']);
    expect([...pidsOf(trial).keys()]).toEqual([...before.keys()]);
    expect(await trial.up()).toMatchObject({ outcome: 'unchanged', changes: [] });
  });

  test('tells which part fails, keeps the others up, and goes on with the next svc up', async () => {
    await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 2\n']]);
    const { installation } = trial;
    await start(trial);
    const before = pidsOf(trial);
    trial.edit(...sessions);
    trial.behave({ 'remote-mcp': { crash: 'no room to run' } });
    await expect(apply(trial)).rejects.toMatchObject({
      message: expect.stringMatching(/^remote-mcp failed to get ready: it ended with exit code 3: no room to run/),
      hint: 'Read its log: svc logs remote-mcp',
    });
    expect(readFailure(installation)).toBeNull();
    const others = ['backend', 'remote-mcp-2', 'runtime', 'frontend', 'nats', 'caddy'];
    for (const name of others) expect([name, pidsOf(trial).get(name)]).toEqual([name, before.get(name)]);
    // The supervisor keeps trying.
    const { endCount } = partOf(installation, 'remote-mcp');
    await until(() => partOf(installation, 'remote-mcp').endCount > endCount);
    process.kill(before.get('frontend') ?? 0, 'SIGKILL');
    await until(
      () => partOf(installation, 'frontend').state === 'healthy' && pidsOf(trial).get('frontend') !== undefined,
    );
    trial.behave({});
    await apply(trial);
    expect(changed(before, pidsOf(trial))).toEqual(['remote-mcp', 'remote-mcp-2', 'frontend']);
  });

  test('gives up a part that keeps ending, and names it', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await start(trial);
    const before = pidsOf(trial);
    await endSupervisor(trial);
    trial.behave({ frontend: { crash: 'the page is gone' } });
    process.kill(before.get('frontend') ?? 0, 'SIGKILL');
    await using supervisor = supervise(trial, hasty);
    await until(() => supervisor.states.includes('frontend failed'));
    expect(readFailure(installation)).toMatchObject({ service: 'frontend', check: 'get ready' });
    expect(changed(before, pidsOf(trial))).toEqual(['frontend']);
  });

  test('restarts a part that runs and does not answer any more', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await start(trial);
    const before = pidsOf(trial);
    await endSupervisor(trial);
    process.kill(before.get('runtime') ?? 0, 'SIGSTOP');
    trial.edit(...sessions);
    await using _ = supervise(trial, { ...hasty, stumbleMs: 100 });
    await until(() => readRecord(installation)?.pid === process.pid && !readRecord(installation)?.isChanging);
    await untilHealthy(installation);
    expect(changed(before, pidsOf(trial))).toEqual(['remote-mcp', 'runtime']);
  });

  test('leaves the running platform alone where svc.yaml is wrong', async () => {
    await using trial = await openProcessTrial();
    const { pid } = await start(trial);
    const before = pidsOf(trial);
    trial.edit('  backend: 1\n', '  backend: 2\n');
    await expect(trial.up()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('replicas.backend must be 1'),
    });
    trial.edit('  backend: 2\n', '  backend: 1\n');
    expect([pidsOf(trial), readRecord(trial.installation)?.pid]).toEqual([before, pid]);
  });
});
