import Docker from 'dockerode';
import { expect, test, vi } from 'vitest';
import { checkDefinition } from '../../../settings/check.ts';
import { until } from '../../../test/until.ts';
import { lastEndOf } from '../container-end.ts';
import { dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The image in svc.yaml, so that no registry is asked. */
const { base: Image } = checkDefinition('id: abcdef0123456789\n', 'svc.yaml').images;

test.skipIf(dockerHost === null)('the end of a restarted container is known at once', async () => {
  const socketPath = (dockerHost ?? '').slice('unix://'.length);
  const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
  const Entrypoint = ['sh', '-c', '[ -e /tmp/ended ] && exec sleep infinity; : >/tmp/ended; exit 3'];
  const HostConfig = { RestartPolicy: { Name: 'unless-stopped' as const } };
  const container = await docker.createContainer({ Image, Entrypoint, HostConfig });
  try {
    await container.start();
    const isBack = async () => {
      const { RestartCount, State } = await container.inspect();
      return RestartCount > 0 && State.Running && !State.Restarting;
    };
    await until(isBack);
    expect(await lastEndOf(docker, await container.inspect())).toBe('ended with exit code 3');
  } finally {
    await container.remove({ force: true });
  }
});
