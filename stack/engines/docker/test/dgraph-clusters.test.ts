import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Agent } from '../../../test/agent.ts';
import { until } from '../../../test/until.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

/** Time for elections of coordination and data nodes, and for the backend's new login. */
const takeoverMs = 60_000;

/** A platform that grows from one node of each kind to three, with several processes of each service. */
describe.skipIf(!(await haveDgraphImage(dockerHost)))('clusters of Dgraph on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;

  beforeAll(async () => {
    trial = await DockerTrial.init({ graph: 'dgraph' });
    await trial.up();
    agent = await trial.agentWithEcho();
    await trial.works(agent, 'one of each');
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  test('the data of one node reaches all added nodes, and the first ones are not replaced', async () => {
    const before = await trial.ids();
    trial.platform.edit('  dgraph-zero: 1\n', '  dgraph-zero: 3\n');
    trial.platform.edit('  dgraph-alpha: 1\n', '  dgraph-alpha: 3\n');
    trial.platform.edit('  backend: 1\n', '  backend: 2\n');
    await trial.up();
    expect(await trial.changedSince(before)).not.toContain('dgraph-zero');
    await trial.expectSaved();
    await trial.save();
    await trial.works(agent, 'three of each');
    expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
  });

  const nodes = ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3', 'dgraph-alpha', 'dgraph-alpha-2', 'dgraph-alpha-3'];
  test.each([...nodes, 'backend', 'backend-2'])(
    'without %s everything works, and no saved record is lost',
    async (node) => {
      await trial.containerOf(node).kill();
      await vi.waitFor(() => trial.save(), { timeout: takeoverMs });
      await trial.expectSaved();
      await trial.works(agent, `without ${node}`);
      expect(await trial.up()).toContain(`${node} was stopped: it is replaced.`);
      await trial.expectSaved();
    },
  );

  test('nodes with a new memory limit are replaced one after the other, so that most stay up', async () => {
    const before = await trial.ids();
    trial.platform.edit('    dgraph-alpha: 1536', '    dgraph-alpha: 1400');
    const alphas = ['dgraph-alpha', 'dgraph-alpha-2', 'dgraph-alpha-3'];
    const running: number[] = [];
    let isChanging = true;
    const looking = until(async () => {
      const present = await trial.inspect();
      running.push(alphas.filter((part) => present.get(part)?.State.Running).length);
      return !isChanging;
    }, 240_000);
    await trial.up().finally(() => {
      isChanging = false;
    });
    await looking;
    expect((await trial.changedSince(before)).toSorted()).toEqual(alphas);
    expect(Math.min(...running)).toBe(2);
    await trial.save();
    await trial.expectSaved();
  });

  test('fewer nodes are refused, and the running platform is untouched', async () => {
    const before = await trial.ids();
    trial.platform.edit('  dgraph-alpha: 3\n', '  dgraph-alpha: 2\n');
    const { code, stderr } = await trial.platform.run(['up']);
    const last = `the volume svc-${trial.id}-dgraph-alpha-3`;
    expect([code, stderr]).toEqual([5, expect.stringContaining(`replicas.dgraph-alpha is 2, and ${last} exists`)]);
    expect(await trial.changedSince(before)).toEqual([]);
    await trial.expectSaved();
    trial.platform.edit('  dgraph-alpha: 2\n', '  dgraph-alpha: 3\n');
  });

  test('stopped all at once, they are back together', async () => {
    for (const node of ['dgraph-zero', 'dgraph-zero-2', 'dgraph-zero-3']) await trial.containerOf(node).stop();
    await trial.up();
    await trial.platform.running(takeoverMs);
    await trial.expectSaved();
    await trial.save();
  });
});
