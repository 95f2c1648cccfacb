import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { runInside } from '../../../engines/docker/container-state.ts';
import { haveDgraphImage } from '../../../engines/docker/test/dgraph-image.ts';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import { listVolumes, removeVolumes } from '../../../engines/docker/volumes.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import type { Installation } from '../../../state/installation.ts';
import { editDefinition } from '../../../test/edit-definition.ts';
import { down } from '../../down.ts';
import type { ReplaceProgress } from '../../replace/replace.ts';
import { readReplacement } from '../../replace/replacement.ts';
import { addMcpServer } from '../../test/installed.ts';
import { distributed, embedded, inContainers } from '../../test/sides.ts';
import { dieAt } from '../../test/trial.ts';
import { up } from '../../up.ts';
import {
  confirmMove,
  contentOf,
  expectBusIn,
  expectSettled,
  filledCopies,
  leftovers,
  moveAll,
  moveTo,
  settleMove,
  undoMove,
} from './trial.ts';

// The first test on a daemon builds the image.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

// A move in a separate process reads DOCKER_HOST from this environment.
process.env.DOCKER_HOST = dockerHost ?? '';
const { env } = process;
const socketPath = (dockerHost ?? '').slice('unix://'.length);

/** One filled installation. Each test of a `describe` moves a copy of it into containers of a real Docker. */
function copiesForDocker() {
  const copies = filledCopies();
  const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
  const notes = 'what an MCP server keeps';
  const notesOf = ({ dataDir }: Installation) => join(dataDir, 'runtime/homes/notes.json');
  const id = () => /^id: (\w+)$/m.exec(copies.original().definition)?.[1] ?? '';
  let installation: Installation;
  beforeEach(() => {
    installation = copies.copy();
    mkdirSync(join(notesOf(installation), '..'), { recursive: true });
    writeFileSync(notesOf(installation), notes);
  });
  afterEach(async () => {
    await down({ installation });
    await removeVolumes(docker, id(), [...(await listVolumes(docker, id()))]);
  });
  /** The names of everything that the installation has in Docker. */
  async function inDocker(): Promise<readonly string[]> {
    const filters = { label: [`svc.installation=${id()}`] };
    const containers = await docker.listContainers({ all: true, filters });
    const networks = (await docker.listNetworks({ filters })).map(({ Name }) => Name);
    const volumes = await listVolumes(docker, id());
    const names = [...containers.flatMap(({ Names }) => Names), ...networks, ...volumes];
    return names.map((name) => name.replace(/^\/?svc-\w{16}-/, '')).sort();
  }
  return {
    docker,
    id,
    original: copies.original,
    installation: () => installation,
    inDocker,
    expectLeft: async (names: readonly string[]) =>
      expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([names, [], null]),
    expectOriginal: async () =>
      expect([await contentOf(installation), readFileSync(notesOf(installation), 'utf8')]).toEqual([
        copies.original(),
        notes,
      ]),
  };
}

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  const trial = copiesForDocker();
  const { docker, id, original, inDocker, expectLeft, expectOriginal } = trial;
  const volumes = ['backend', 'nats', 'runtime'];
  const hasGraph = ({ dataDir }: Installation) => existsSync(join(dataDir, 'graph.sqlite'));

  test('killed on the way there, or while it is undone, the data before is whole, and nothing is left in Docker', async () => {
    const installation = trial.installation();
    await dieAt(installation, ['filling', 'nats'], { to: inContainers });
    expect(await settleMove(installation)).toEqual([expect.stringContaining('nothing has changed')]);
    await expectLeft([]);
    expect(existsSync(join(installation.stateDir, 'containers', 'nats'))).toBe(false);
    await expectOriginal();
    await moveTo(installation, inContainers);
    await dieAt(installation, ['fill'], { verb: 'undo' });
    await undoMove(installation);
    await expectLeft([]);
    await expectOriginal();
  });

  test('there and back all data is unchanged, also where the way back was killed or undone', async () => {
    const installation = trial.installation();
    const there = await moveAll(installation, inContainers);
    expect([await inDocker(), hasGraph(installation)]).toEqual([volumes, false]);
    await confirmMove(installation);
    for (const moment of [['keeping', 'nats'], ['write-definition']]) {
      await dieAt(installation, moment, { to: embedded });
      await settleMove(installation);
      await expectLeft(volumes);
      expect(readFileSync(installation.definitionFile, 'utf8')).toContain('\nengine: docker\n');
    }
    expect((await moveTo(installation, embedded)).moved).toEqual(there.moved);
    expect(await inDocker()).toEqual([]);
    await expectOriginal();
    await dieAt(installation, ['fill'], { verb: 'undo' });
    await settleMove(installation);
    await expectLeft(volumes);
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', engine: 'docker' });
    expect(hasGraph(installation)).toBe(false);
  });

  test('it runs there without its own folders, and an undo lists later changes, also while it runs', async () => {
    const installation = trial.installation();
    const { dir, definitionFile } = installation;
    const allowed = replaceScalar(original().definition, ['runtime', 'allowedPaths'], `[${dir}]`);
    writeFileSync(definitionFile, allowed);
    await up({ installation, env });
    const there = await moveTo(installation, inContainers);
    expect(there.downMs).toBeGreaterThan(0);
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    const { said: mounts } = await runInside(docker, `svc-${id()}-runtime`, ['cat', '/proc/mounts']);
    for (const name of ['secrets', 'data', 'state', 'logs']) expect(mounts).toContain(`tmpfs ${dir}/${name} tmpfs ro,`);
    await addMcpServer(installation);
    expect((await undoMove(installation))?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
    await down({ installation });
    await expectLeft([]);
    const after = await contentOf(installation);
    expect(after.graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(after.definition).toBe(allowed);
  });

  test.skipIf(findNatsServer() === null)('from processes of their own and back, the bus is carried too', async () => {
    const installation = trial.installation();
    await moveTo(installation, distributed);
    await confirmMove(installation);
    const there = await moveTo(installation, { engine: 'docker' });
    expect(there.to).toEqual(inContainers);
    expectBusIn(there);
    expect(existsSync(join(installation.dataDir, 'nats'))).toBe(false);
    await confirmMove(installation);
    const back = await moveTo(installation, { engine: 'process' });
    expect(back.moved).toEqual(there.moved);
    await confirmMove(installation);
    await moveTo(installation, embedded);
    await expectOriginal();
  });

  const expectUntouched = (installation: Installation) => {
    expectSettled(installation);
    expect(existsSync(join(installation.stateDir, 'containers.json'))).toBe(false);
  };

  test('without Docker or an image, or with a volume in its place, it is refused before anything stops', async () => {
    const installation = trial.installation();
    /** Expects this refusal before the move asks for confirmation. */
    const expectRefused = (refusal: object, settings: { readonly env?: typeof env } = {}) =>
      expect(
        moveTo(installation, inContainers, { confirm: () => expect.fail('it was asked'), ...settings }),
      ).rejects.toMatchObject(refusal);
    await expectRefused(
      { code: 'unavailable', message: expect.stringContaining('Docker is not running') },
      { env: { ...env, DOCKER_HOST: 'unix:///nowhere/docker.sock' } },
    );
    const volume = `svc-${id()}-nats`;
    await docker.createVolume({ Name: volume, Labels: { 'svc.installation': id() } });
    await expectRefused({
      code: 'conflict',
      message: expect.stringContaining(volume),
      hint: expect.stringContaining(`docker volume rm ${volume}`),
    });
    await docker.getVolume(volume).remove();
    expectUntouched(installation);
    await expectOriginal();
    editDefinition(installation, 'nats: nats:2.15.0-alpine', 'nats: nats-that-nobody-has:1.0.0');
    await expectRefused({ message: expect.stringContaining('The image "nats-that-nobody-has:1.0.0" is missing') });
    expectUntouched(installation);
  });

  test('when Docker stops meanwhile, the old side continues, and leftovers in Docker are reported', async () => {
    const installation = trial.installation();
    await up({ installation, env });
    // A link to Docker's socket, which the test removes during the move.
    const way = join(installation.dir, 'docker.sock');
    symlinkSync(socketPath, way);
    const notices: string[] = [];
    const onProgress = (progress: ReplaceProgress) => {
      if (progress.kind === 'notice') notices.push(progress.message);
      if (progress.kind === 'step' && progress.step === 'verify') rmSync(way);
    };
    const onTheWay = { env: { ...env, DOCKER_HOST: `unix://${way}` }, onProgress };
    await expect(moveTo(installation, inContainers, onTheWay)).rejects.toThrow();
    expect(notices.join('\n')).toContain('The new data is still there');
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    await addMcpServer(installation);
    expectUntouched(installation);
    expect(await inDocker()).toContain('forward');
    await expect(moveTo(installation, inContainers)).rejects.toMatchObject({
      hint: expect.stringContaining('docker volume rm'),
    });
    expect(await inDocker()).not.toContain('forward');
  });
});

describe.skipIf(!(await haveDgraphImage(dockerHost)))('Dgraph on a real Docker', () => {
  const trial = copiesForDocker();
  const { inDocker, original } = trial;
  const onDgraph = { ...inContainers, graph: 'dgraph' } as const;

  test('to Dgraph in containers, to a file there, and back: all data is unchanged', async () => {
    const installation = trial.installation();
    await moveAll(installation, onDgraph);
    expect((await up({ installation, env })).status.state).toBe('running');
    await addMcpServer(installation);
    expect((await undoMove(installation))?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    await down({ installation });
    expect(await inDocker()).toEqual([]);

    const { graph, files } = await contentOf(installation);
    await moveTo(installation, onDgraph);
    await confirmMove(installation);
    const onFile = await moveTo(installation, { graph: 'sqlite' });
    expect([onFile.to, onFile.moved]).toEqual([inContainers, [...graph, ...files]]);
    expect(await inDocker()).toEqual(['backend', 'nats', 'runtime']);
    expect(await undoMove(installation)).toMatchObject({ changes: [], uncounted: null });
    expect(await inDocker()).toEqual(['dgraph-alpha', 'dgraph-zero', 'nats', 'runtime']);
    await moveTo(installation, { graph: 'sqlite' });
    await confirmMove(installation);
    expect(await inDocker()).toEqual(['backend', 'nats', 'runtime']);
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toMatchObject({ graph, files, sessions: original().sessions });
  });

  test.each(['dgraph-alpha', 'verify'])('killed at %s, the old side is there and whole', async (step) => {
    const installation = trial.installation();
    await dieAt(installation, [step], { to: onDgraph });
    await settleMove(installation);
    await trial.expectLeft([]);
    await trial.expectOriginal();
  });
});
