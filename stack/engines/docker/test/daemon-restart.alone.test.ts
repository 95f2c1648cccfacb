import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import type { Graph } from '../../../settings/choices.ts';
import { startTimeOf } from '../../../state/process-identity.ts';
import { until } from '../../../test/until.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000 });

/** The start of Docker and the elections of Dgraph take some seconds each. */
const backWithinMs = 120_000;
/** The folder of a daemon that `.ci/docker` started and can restart. */
const folder = dirname((dockerHost ?? '').slice('unix://'.length));
const pidFile = join(folder, 'docker.pid');
const isOurs = existsSync(pidFile);

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
  const pid = Number(readFileSync(pidFile, 'utf8'));
  process.kill(pid, 'SIGTERM');
  await until(() => startTimeOf(pid) === null, 60_000);
  const script = fileURLToPath(new URL('../../../../.ci/docker', import.meta.url));
  await promisify(execFile)('bash', [script, folder], { timeout: 60_000 });
  await trial.platform.running(backWithinMs);
  expect(await trial.changedSince(before)).toEqual([]);
  await trial.works(agent, 'restarted');
  expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
}
