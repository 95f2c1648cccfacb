import { cpSync, renameSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { releaseVolumes } from '../volumes.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

const timeoutMs = 300_000;

/** A platform whose folder is copied, moved and partly lost. */
describe.skipIf(dockerHost === null)('the folder of a platform in containers', () => {
  let trial: DockerTrial;
  beforeAll(async () => {
    trial = await DockerTrial.init();
    await trial.up();
    await trial.addEcho();
  }, timeoutMs);
  afterAll(() => trial?.[Symbol.asyncDispose](), timeoutMs);

  const dir = () => trial.platform.installation.dir;
  const copyOf = () => `${dir()}-copy`;
  const inCopy = async (...typed: readonly string[]) => {
    const { code, stdout } = await trial.platform.run([...typed, '--json'], { env: { SVC_DIR: copyOf() } });
    return { code, json: JSON.parse(stdout) };
  };
  const servers = async () =>
    (await trial.platform.svc('server', 'list')).mcpServers.map(({ name }: { name: string }) => name);
  const volumes = async () => {
    const { Volumes } = await trial.docker.listVolumes({ filters: { label: [`svc.installation=${trial.id}`] } });
    return Volumes.map(({ Name }) => Name);
  };

  /** The request of `docker volume prune --all`. Before Docker 23 the command removes every unused volume without `--all`. */
  const allVolumes = async () => (Number((await trial.docker.version()).ApiVersion) < 1.42 ? {} : { all: ['true'] });

  test.each([
    { what: 'whole', left: [] },
    { what: 'without state/', left: ['state'] },
  ])(
    'copied $what touches nothing of the original',
    async ({ left }) => {
      cpSync(dir(), copyOf(), { recursive: true });
      for (const name of left) rmSync(`${copyOf()}/${name}`, { recursive: true });
      const before = await trial.ids();
      const up = await inCopy('up');
      expect(up).toMatchObject({
        code: 5,
        json: { error: { message: expect.stringContaining(`copy of the installation in "${dir()}"`) } },
      });
      if (left.length === 0) expect(await inCopy('down')).toMatchObject({ code: 5 });
      expect((await inCopy('status')).json).toMatchObject({ state: 'stopped' });
      expect(await trial.changedSince(before)).toEqual([]);
      rmSync(copyOf(), { recursive: true });
    },
    timeoutMs,
  );

  test(
    'copied becomes an installation only without the data, which is in volumes',
    async () => {
      cpSync(dir(), copyOf(), { recursive: true });
      const before = await trial.ids();
      const refused = await inCopy('up', '--as-copy');
      expect(refused).toMatchObject({
        code: 1,
        json: { error: { hint: expect.stringContaining('--as-copy --start-empty') } },
      });
      expect(await trial.changedSince(before)).toEqual([]);
      rmSync(copyOf(), { recursive: true });
    },
    timeoutMs,
  );

  test(
    'moved carries on with its data, which docker volume prune --all leaves alone',
    async () => {
      await trial.platform.svc('down');
      const kept = await volumes();
      const filters = JSON.stringify({ ...(await allVolumes()), label: [`svc.installation=${trial.id}`] });
      await trial.docker.pruneVolumes({ filters });
      expect((await volumes()).sort()).toEqual(kept.sort());
      renameSync(dir(), copyOf());
      expect(await inCopy('up')).toMatchObject({ code: 0 });
      expect(await inCopy('down')).toMatchObject({ code: 0 });
      renameSync(copyOf(), dir());
      expect(await trial.up()).toContain('was moved here');
      expect(await servers()).toEqual(['demo']);
    },
    timeoutMs,
  );

  test(
    'of which volumes are gone is an error that names them, until its name was typed',
    async () => {
      await trial.platform.svc('down');
      await releaseVolumes(trial.docker, trial.id);
      const lost = `svc-${trial.id}-backend`;
      await trial.docker.getVolume(lost).remove();
      const { code, json } = await trial.platform.fails('up');
      expect({ code, message: json.error.message }).toEqual({
        code: 1,
        message: `Data of this installation is missing: the volume ${lost}.`,
      });
      const unnamed = await trial.platform.fails('up', '--start-empty');
      expect(unnamed.code).toBe(2);
      expect(await volumes()).not.toContain(lost);
      const [, name = ''] = /--confirm (\S+)\.$/.exec(unnamed.json.error.hint) ?? [];
      await trial.platform.svc('up', '--start-empty', '--confirm', name);
      expect(await servers()).toEqual([]);
    },
    timeoutMs,
  );
});
