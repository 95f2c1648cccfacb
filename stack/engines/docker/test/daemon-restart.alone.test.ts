import { expect, test, vi } from 'vitest';
import type { Graph } from '../../../settings/choices.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, daemonOf, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000 });

const isOurs = daemonOf(dockerHost) !== null;

/** Runs alone, because it restarts the Docker that other suites use. */
test.skipIf(!isOurs)('on a real Docker all is back by itself after its restart', () => comesBack('sqlite'));

const hasDgraph = isOurs && (await haveDgraphImage(dockerHost));
test.skipIf(!hasDgraph)('Dgraph on a real Docker is back by itself after its restart, with all others', () =>
  comesBack('dgraph'),
);

async function comesBack(graph: Graph): Promise<void> {
  await using trial = await DockerTrial.init({ graph });
  await trial.up();
  const agent = await trial.agentWithEcho();
  const before = await trial.ids();
  await trial.restartDaemon();
  expect(await trial.changedSince(before)).toEqual([]);
  await trial.works(agent, 'restarted');
  expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
}
