import { describe, expect, test, vi } from 'vitest';
import { listen } from '../../../operations/test/trial.ts';
import { readRecord } from '../../../state/platform-record.ts';
import { startTimeOf } from '../../../state/process-identity.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { hasty, openProcessTrial, type ProcessTrial, partOf, supervise, untilHealthy } from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

const pidsOf = ({ installation }: ProcessTrial) =>
  new Map((readRecord(installation)?.services ?? []).map(({ name, process }) => [name, process?.pid]));

const sessions = ['sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000'] as const;

describe('svc up, while it runs', () => {
  test('restarts replicas one after the other', async () => {
    await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 3\n']]);
    await using _ = supervise(trial);
    await untilHealthy(trial.installation);
    trial.edit(...sessions);
    const told = listen();
    await trial.up({ onProgress: told.onProgress });
    const inTurn = ['remote-mcp', 'remote-mcp-2', 'remote-mcp-3'];
    expect(told.states()).toEqual(
      inTurn.flatMap((name) => ['stopped', 'starting', 'healthy'].map((state) => `${name} ${state}`)),
    );
  });

  test('adds replicas and takes them away', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await using _ = supervise(trial);
    await untilHealthy(installation);
    const before = pidsOf(trial);
    trial.edit('  remote-mcp: 1\n  runtime: 1\n', '  remote-mcp: 2\n  runtime: 3\n');
    const { changes, status } = await trial.up();
    const { ports } = readPlan(installation);
    expect(changes).toEqual([
      'caddy: new',
      `remote-mcp REMOTE_PORT: ${ports['remote-mcp']} → ${ports['remote-mcp-1']}`,
      ...['remote-mcp-2: new', 'runtime-2: new', 'runtime-3: new'],
    ]);
    const names = [
      'backend',
      'remote-mcp',
      'remote-mcp-2',
      'runtime',
      'runtime-2',
      'runtime-3',
      'frontend',
      'nats',
      'caddy',
    ];
    expect(status.services.map(({ name, state }) => [name, state])).toEqual(names.map((name) => [name, 'healthy']));
    const third = partOf(installation, 'runtime-3').process?.pid ?? 0;
    trial.edit('  remote-mcp: 2\n  runtime: 3\n', '  remote-mcp: 1\n  runtime: 1\n');
    expect((await trial.up()).changes).toEqual([
      'caddy: no more',
      `remote-mcp REMOTE_PORT: ${ports['remote-mcp-1']} → ${ports['remote-mcp']}`,
      ...['remote-mcp-2: no more', 'runtime-2: no more', 'runtime-3: no more'],
    ]);
    expect(startTimeOf(third)).toBeNull();
    const after = pidsOf(trial);
    expect([...before.keys()].filter((name) => after.get(name) !== before.get(name))).toEqual(['remote-mcp']);
    expect([...after.keys()]).toEqual([...before.keys()]);
  });

  test('tries again what was given up, and says why where that is in vain', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await using _ = supervise(trial, hasty);
    await untilHealthy(installation);
    const before = pidsOf(trial);
    trial.behave({ frontend: { crash: 'the page is gone' } });
    process.kill(before.get('frontend') ?? 0, 'SIGKILL');
    await until(() => partOf(installation, 'frontend').state === 'failed');
    await expect(trial.up()).rejects.toMatchObject({
      message: expect.stringMatching(/^frontend failed to get ready: it ended with exit code 3: the page is gone$/),
      hint: 'Read its log: svc logs frontend',
    });
    // The supervisor restarted it a few more times.
    await until(() => partOf(installation, 'frontend').state === 'failed');
    trial.behave({});
    expect(await trial.up()).toMatchObject({ outcome: 'restarted', changes: [], status: { state: 'running' } });
    const after = pidsOf(trial);
    expect([...after.keys()].filter((name) => after.get(name) !== before.get(name))).toEqual(['frontend']);
  });

  test('starts a part anew that runs and does not answer any more', async () => {
    await using trial = await openProcessTrial();
    const { installation } = trial;
    await using _ = supervise(trial, { ...hasty, stumbleMs: 100 });
    await untilHealthy(installation);
    const before = pidsOf(trial);
    process.kill(before.get('runtime') ?? 0, 'SIGSTOP');
    trial.edit(...sessions);
    await trial.up();
    const after = pidsOf(trial);
    expect([...after.keys()].filter((name) => after.get(name) !== before.get(name))).toEqual(['remote-mcp', 'runtime']);
  });

  test('leaves what runs alone where svc.yaml is wrong', async () => {
    await using trial = await openProcessTrial();
    await using _ = supervise(trial);
    await untilHealthy(trial.installation);
    const before = pidsOf(trial);
    trial.edit('  backend: 1\n', '  backend: 2\n');
    await expect(trial.up()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('replicas.backend must be 1'),
    });
    trial.edit('  backend: 2\n', '  backend: 1\n');
    expect(pidsOf(trial)).toEqual(before);
  });

  test('a second one at once is a conflict', async () => {
    await using trial = await openProcessTrial();
    await using _ = supervise(trial);
    await untilHealthy(trial.installation);
    trial.edit(...sessions);
    const first = trial.up();
    await expect(trial.up()).rejects.toMatchObject({ code: 'conflict' });
    expect(await first).toMatchObject({ outcome: 'restarted' });
  });
});
