import { describe } from 'vitest';
import { engineContract } from '../../engine.contract.ts';
import { connectToDaemon } from '../daemon.ts';
import { listVolumes, removeVolumes } from '../volumes.ts';
import { dockerHost } from './docker-trial.ts';

const env = { ...process.env, DOCKER_HOST: dockerHost ?? undefined };

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  engineContract({
    name: 'docker',
    env,
    async kill({ container }) {
      const { docker } = await connectToDaemon(env);
      const { State } = await docker.getContainer(container ?? '').inspect();
      // Docker does not restart a container that was killed through its API.
      process.kill(State.Pid, 'SIGKILL');
    },
    async clear(id) {
      const { docker } = await connectToDaemon(env);
      await removeVolumes(docker, id, [...(await listVolumes(docker, id))]);
    },
  });
});
