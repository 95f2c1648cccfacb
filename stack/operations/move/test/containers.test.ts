import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { haveDgraphImage } from '../../../engines/docker/test/dgraph-image.ts';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import { releaseVolumes } from '../../../engines/docker/volumes.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import type { Loss } from '../../replace/end-replacement.ts';
import { readReplacement, writeReplacement } from '../../replace/replacement.ts';
import type { Side } from '../../replace/side.ts';
import { up } from '../../up.ts';
import { type MoveProgress, move } from '../move.ts';
import type { MovePlan } from '../plan-move.ts';
import {
  addMcpServer,
  confirmMove,
  contentOf,
  countOf,
  killedMove,
  leftovers,
  moveTo,
  openFilled,
  settleMove,
  texts,
  undoMove,
} from './trial.ts';

// The first one on a daemon builds the image.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const env: Record<string, string | undefined> = process.env;
const onProgress = () => undefined;
const embedded: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const inContainers: Side = { topology: 'distributed', graph: 'sqlite', engine: 'docker' };
const socketPath = (dockerHost ?? '').slice('unix://'.length);
const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });

let filled: Awaited<ReturnType<typeof openFilled>>;
let original: Awaited<ReturnType<typeof contentOf>>;
let installation: Installation;
let labelled = '';

/** Each test has its own copy of the same installation. */
function copy(): void {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
  cpSync(filled.installation.dir, dir, { recursive: true });
  installation = installationIn(dir);
  // Recorded as the place of another folder, this one would be refused as a copy.
  rmSync(join(installation.stateDir, 'place.json'));
}

/** Everything of the installation in Docker, by name. */
async function inDocker(): Promise<readonly string[]> {
  const filters = { label: [labelled] };
  const containers = await docker.listContainers({ all: true, filters });
  const networks = await docker.listNetworks({ filters });
  const { Volumes } = await docker.listVolumes({ filters });
  const names = [
    ...containers.flatMap(({ Names }) => Names),
    ...[...networks, ...(Volumes ?? [])].map((one) => one.Name),
  ];
  return names.map((name) => name.replace(/^\/?svc-\w{16}-/, '')).sort();
}

async function prepare(): Promise<void> {
  env.DOCKER_HOST = dockerHost ?? '';
  filled = await openFilled();
  const { definitionFile } = filled.installation;
  // Longer than the suite takes, wherever it runs.
  const limits = replaceScalar(readFileSync(definitionFile, 'utf8'), ['limits', 'sessionIdleTimeoutMs'], '3600000');
  writeFileSync(definitionFile, limits);
  const home = join(filled.installation.dataDir, 'runtime/homes');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'notes.json'), 'what an MCP server keeps');
  original = await contentOf(filled.installation);
  labelled = `svc.installation=${/^id: (\w+)$/m.exec(original.definition)?.[1]}`;
}

async function clearAway(): Promise<void> {
  await down({ installation });
  await releaseVolumes(docker, labelled.split('=')[1] ?? '');
  const { Volumes } = await docker.listVolumes({ filters: { label: [labelled] } });
  for (const { Name } of Volumes ?? []) await docker.getVolume(Name).remove();
  rmSync(installation.dir, { recursive: true, force: true });
}

const confirm = () => confirmMove({ installation, env, onProgress }, () => undefined);
const undo = async () => {
  const losses: Loss[] = [];
  await undoMove({ installation, env, onProgress }, async (loss) => void losses.push(loss));
  return losses[0];
};
const notes = () => readFileSync(join(installation.dataDir, 'runtime/homes/notes.json'), 'utf8');

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  beforeAll(prepare);
  afterAll(() => filled?.[Symbol.asyncDispose]());
  afterEach(clearAway);

  test('there and back, everything is as it was, and nothing is left in Docker', async () => {
    copy();
    const there = await moveTo(installation, inContainers);
    expect(there).toMatchObject({ state: 'moved', from: embedded, to: inContainers, downMs: null });
    expect([countOf(there.moved, 'bus.usage'), countOf(there.moved, 'bus.sessions')]).toEqual([texts.length, 2]);
    expect(there.moved).toEqual(expect.arrayContaining([...original.graph, ...original.files]));
    expect(await inDocker()).toEqual(['backend', 'nats', 'runtime']);
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    await confirm();
    expect(leftovers(installation)).toEqual([]);
    const back = await moveTo(installation, embedded);
    const digests = (moved: typeof back.moved) => moved.map(({ kind, digest }) => `${kind} ${digest}`);
    expect(digests(back.moved)).toEqual(digests(there.moved));
    expect([await inDocker(), notes()]).toEqual([[], 'what an MCP server keeps']);
    expect(await contentOf(installation)).toEqual(original);
    // As if killed as soon as it was begun.
    const left = readReplacement(installation) ?? expect.fail('it does not wait to be confirmed');
    writeReplacement(installation, { ...left, step: 'confirming' });
    await settleMove(installation, onProgress);
    expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
  });

  test('it runs there, and an undo says what was written since, also while it runs', async () => {
    copy();
    await up({ installation, env });
    const there = await moveTo(installation, inContainers);
    expect(there.downMs).toBeGreaterThan(0);
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    await addMcpServer(installation);
    expect((await undo())?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
    await down({ installation });
    expect([await inDocker(), leftovers(installation), notes()]).toEqual([[], [], 'what an MCP server keeps']);
    const after = await contentOf(installation);
    expect(after.graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(after.definition).toBe(original.definition);
  });

  test("folders of MCP servers are named before it is asked, and shown once svc.yaml names them, without what is the platform's", async () => {
    copy();
    const { dir, definitionFile } = installation;
    await up({ installation, env });
    await addMcpServer(installation, { name: 'here', launch: { command: 'node', args: ['server.mjs'], cwd: dir } });
    const plans: MovePlan[] = [];
    const confirm = async (plan: MovePlan) => void plans.push(plan);
    const declined = async (plan: MovePlan) => confirm(plan).then(() => Promise.reject(new Error('declined')));
    await expect(move({ installation, to: inContainers, env, confirm: declined })).rejects.toThrow('declined');
    writeFileSync(definitionFile, replaceScalar(original.definition, ['runtime', 'allowedPaths'], `[${dir}]`));
    await move({ installation, to: inContainers, env, confirm });
    expect(plans.map(({ unseen }) => unseen)).toEqual([[{ mcpServer: 'here', folder: dir }], []]);
    const runtime = docker.getContainer(`svc-${labelled.split('=')[1]}-runtime`);
    const looking = await runtime.exec({ Cmd: ['cat', '/proc/mounts'], AttachStdout: true });
    const mounts = await text(await looking.start({}));
    for (const name of ['secrets', 'data', 'state', 'logs']) expect(mounts).toContain(`tmpfs ${dir}/${name} tmpfs ro,`);
  });

  test('an undo of the way back runs it in containers again', async () => {
    copy();
    await moveTo(installation, inContainers);
    await confirm();
    await up({ installation, env });
    await moveTo(installation, embedded);
    await addMcpServer(installation);
    expect((await undo())?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', engine: 'docker' });
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    await down({ installation });
    const moved = (await moveTo(installation, embedded)).moved;
    expect(moved.map(({ kind }) => kind)).not.toContain('mcpServer');
  });

  test.skipIf(findNatsServer() === null)('from processes of their own and back, the bus is carried too', async () => {
    copy();
    await moveTo(installation, { topology: 'distributed' });
    await confirm();
    const there = await moveTo(installation, { engine: 'docker' });
    expect([there.to, countOf(there.moved, 'bus.usage'), countOf(there.moved, 'bus.sessions')]).toEqual([
      ...[inContainers, texts.length, 2],
    ]);
    expect(existsSync(join(installation.dataDir, 'nats'))).toBe(false);
    await confirm();
    const back = await moveTo(installation, { engine: 'process' });
    expect(back.moved).toEqual(there.moved);
    await confirm();
    await moveTo(installation, embedded);
    expect([await contentOf(installation), notes()]).toEqual([original, 'what an MCP server keeps']);
  });

  const killedAt = async (to: Side, step: string) => {
    expect([step, await killedMove(installation, { to, step })]).toEqual([step, 'SIGKILL']);
    return readReplacement(installation)?.step;
  };

  test('killed anywhere, the data before is there and whole, and nothing is left in Docker', async () => {
    copy();
    for (const step of ['alone-nats', 'verify', 'write-definition']) {
      expect(await killedAt(inContainers, step)).toBe('filling');
      const notices: string[] = [];
      await settleMove(installation, (message) => void notices.push(message));
      expect(notices).toEqual([expect.stringContaining('everything is as it was before')]);
      expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
      expect(existsSync(join(installation.stateDir, 'containers', 'alone-nats'))).toBe(false);
      expect([await contentOf(installation), notes()]).toEqual([original, 'what an MCP server keeps']);
    }
  });

  test('an undo that is killed is finished the next time', async () => {
    copy();
    await moveTo(installation, inContainers);
    expect(await killedMove(installation, { verb: 'undo', step: 'fill' })).toBe('SIGKILL');
    await undo();
    expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
    expect([await contentOf(installation), notes()]).toEqual([original, 'what an MCP server keeps']);
  });

  test('killed on the way back, nothing is lost, wherever that is', async () => {
    copy();
    await moveTo(installation, inContainers);
    await confirm();
    const volumes = ['backend', 'nats', 'runtime'];
    expect(await killedAt(embedded, 'alone-nats')).toBe('keeping');
    await settleMove(installation, onProgress);
    expect([await inDocker(), leftovers(installation)]).toEqual([volumes, []]);
    for (const step of ['fill', 'write-definition']) {
      expect(await killedAt(embedded, step)).toBe('filling');
      await settleMove(installation, onProgress);
      expect([await inDocker(), readReplacement(installation), leftovers(installation)]).toEqual([volumes, null, []]);
      expect(readFileSync(installation.definitionFile, 'utf8')).toContain('\nengine: docker\n');
    }
    await moveTo(installation, embedded);
    expect([await contentOf(installation), notes()]).toEqual([original, 'what an MCP server keeps']);
    expect(await killedMove(installation, { verb: 'undo', step: 'fill' })).toBe('SIGKILL');
    await settleMove(installation, onProgress);
    expect([await inDocker(), readReplacement(installation), leftovers(installation)]).toEqual([volumes, null, []]);
  });

  /** As somebody who is asked nothing, which must fail before that. */
  const refused = (settings: { readonly env?: typeof env } = {}) =>
    move({ installation, to: inContainers, env, confirm: () => expect.fail('it was asked'), ...settings });
  const expectUntouched = async () => {
    expect([leftovers(installation), readReplacement(installation)]).toEqual([[], null]);
    expect(existsSync(join(installation.stateDir, 'containers.json'))).toBe(false);
  };

  test('without Docker, or an image, or where svc.yaml or volumes stand in the way, it is refused before anything is stopped', async () => {
    copy();
    await expect(refused({ env: { ...env, DOCKER_HOST: 'unix:///nowhere/docker.sock' } })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Docker is not running'),
    });
    const volume = `svc-${labelled.split('=')[1]}-nats`;
    await docker.createVolume({ Name: volume, Labels: Object.fromEntries([labelled.split('=')]) });
    await expect(refused()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(volume),
      hint: expect.stringContaining(`docker volume rm ${volume}`),
    });
    await docker.getVolume(volume).remove();
    await expectUntouched();
    expect(await contentOf(installation)).toEqual(original);
    writeFileSync(installation.definitionFile, replaceScalar(original.definition, ['runtime', 'sandbox'], 'bwrap'));
    await expect(refused()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('runtime.sandbox: bwrap needs engine: process'),
    });
    const nobodys = original.definition.replace('nats: nats:2.15.0-alpine', 'nats: nats-that-nobody-has:1.0.0');
    writeFileSync(installation.definitionFile, nobodys);
    await expect(refused()).rejects.toMatchObject({
      message: expect.stringContaining('The image "nats-that-nobody-has:1.0.0" is missing'),
    });
    await expectUntouched();
  });

  test('a Docker that stops meanwhile takes nothing along: the old side goes on, and what is left there is told', async () => {
    copy();
    await up({ installation, env });
    await using way = await openWay();
    const told: string[] = [];
    const moving = move({
      installation,
      to: inContainers,
      env: { ...env, DOCKER_HOST: way.host },
      confirm: async () => undefined,
      onProgress: (progress: MoveProgress) => {
        if (progress.kind === 'notice') told.push(progress.message);
        if (progress.kind === 'step' && progress.step === 'verify') way.close();
      },
    });
    await expect(moving).rejects.toThrow();
    expect(told.join('\n')).toContain('The new data is still there');
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    await addMcpServer(installation);
    await expectUntouched();
  });
});

/** A socket that leads to Docker until it is closed. */
async function openWay() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-way-'));
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(socketPath);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  const path = join(dir, 'docker.sock');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  return {
    host: `unix://${path}`,
    close,
    async [Symbol.asyncDispose]() {
      close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!(await haveDgraphImage(dockerHost)))('Dgraph on a real Docker', () => {
  beforeAll(prepare);
  afterAll(() => filled?.[Symbol.asyncDispose]());
  afterEach(clearAway);
  const onDgraph: Side = { ...inContainers, graph: 'dgraph' };

  test('to Dgraph in containers, to a file there, and back: everything is as it was', async () => {
    copy();
    const there = await moveTo(installation, onDgraph);
    expect(there).toMatchObject({ from: embedded, to: onDgraph });
    expect(there.moved).toEqual(expect.arrayContaining([...original.graph, ...original.files]));
    expect((await up({ installation, env })).status.state).toBe('running');
    await addMcpServer(installation);
    expect((await undo())?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    await down({ installation });
    expect(await inDocker()).toEqual([]);

    const { graph, files } = await contentOf(installation);
    await moveTo(installation, onDgraph);
    await confirm();
    const onFile = await moveTo(installation, { graph: 'sqlite' });
    expect([onFile.to, onFile.moved]).toEqual([inContainers, [...graph, ...files]]);
    expect(await inDocker()).toEqual(['backend', 'nats', 'runtime']);
    expect(await undo()).toMatchObject({ changes: [], uncounted: null });
    expect(await inDocker()).toEqual(['dgraph-alpha', 'dgraph-zero', 'nats', 'runtime']);
    await moveTo(installation, { graph: 'sqlite' });
    await confirm();
    expect(await inDocker()).toEqual(['backend', 'nats', 'runtime']);
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toMatchObject({ graph, files, sessions: original.sessions });
  });

  test.each(['alone-dgraph-alpha', 'verify'])('killed at %s, the old side is there and whole', async (step) => {
    copy();
    expect(await killedMove(installation, { to: onDgraph, step })).toBe('SIGKILL');
    await settleMove(installation, onProgress);
    expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
    expect(await contentOf(installation)).toEqual(original);
  });

  test('without an image of Dgraph it is refused before anything is stopped', async () => {
    copy();
    const nobodys = original.definition.replace(/dgraph: dgraph\/dgraph:\S+/, 'dgraph: nobody/dgraph:v25.4.0');
    writeFileSync(installation.definitionFile, nobodys);
    await expect(moveTo(installation, onDgraph)).rejects.toMatchObject({
      message: expect.stringContaining('The image "nobody/dgraph:v25.4.0" is missing'),
    });
    expect([await inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
  });
});
