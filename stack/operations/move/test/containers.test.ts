import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { haveDgraphImage } from '../../../engines/docker/test/dgraph-image.ts';
import { dockerHost } from '../../../engines/docker/test/docker-trial.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import type { Installation } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import type { ReplaceProgress } from '../../replace/replace.ts';
import { readReplacement } from '../../replace/replacement.ts';
import type { Side } from '../../replace/side.ts';
import { addMcpServer } from '../../test/installed.ts';
import { up } from '../../up.ts';
import { embedded, env, inContainers, MovesInContainers, notesIn, socketPath } from './moves-in-containers.ts';
import {
  confirmMove,
  contentOf,
  expectBusIn,
  expectSettled,
  killedMove,
  leftovers,
  moveTo,
  settleMove,
  undoMove,
} from './trial.ts';

// The first one on a daemon builds the image.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  const trial = new MovesInContainers();

  test('there and back, all data is unchanged, and nothing is left in Docker', async () => {
    const installation = trial.copy();
    const there = await moveTo(installation, inContainers);
    expect(there).toMatchObject({ state: 'moved', from: embedded, to: inContainers, downMs: null });
    expectBusIn(there);
    expect(there.moved).toEqual(expect.arrayContaining([...trial.original.graph, ...trial.original.files]));
    expect(await trial.inDocker()).toEqual(['backend', 'nats', 'runtime']);
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    await confirmMove(installation);
    expect(leftovers(installation)).toEqual([]);
    const back = await moveTo(installation, embedded);
    const digests = (moved: typeof back.moved) => moved.map(({ kind, digest }) => `${kind} ${digest}`);
    expect(digests(back.moved)).toEqual(digests(there.moved));
    expect([await trial.inDocker(), notesIn(installation)]).toEqual([[], 'what an MCP server keeps']);
    expect(await contentOf(installation)).toEqual(trial.original);
  });

  test('it runs there without its own folders, and an undo lists later changes, also while it runs', async () => {
    const installation = trial.copy();
    const { dir, definitionFile } = installation;
    const allowed = replaceScalar(trial.original.definition, ['runtime', 'allowedPaths'], `[${dir}]`);
    writeFileSync(definitionFile, allowed);
    await up({ installation, env });
    const there = await moveTo(installation, inContainers);
    expect(there.downMs).toBeGreaterThan(0);
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    const runtime = trial.docker.getContainer(`svc-${trial.id}-runtime`);
    const looking = await runtime.exec({ Cmd: ['cat', '/proc/mounts'], AttachStdout: true });
    const mounts = await text(await looking.start({}));
    for (const name of ['secrets', 'data', 'state', 'logs']) expect(mounts).toContain(`tmpfs ${dir}/${name} tmpfs ro,`);
    await addMcpServer(installation);
    expect((await undoMove(installation))?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
    await down({ installation });
    const left = [await trial.inDocker(), leftovers(installation), notesIn(installation)];
    expect(left).toEqual([[], [], 'what an MCP server keeps']);
    const after = await contentOf(installation);
    expect(after.graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(after.definition).toBe(allowed);
  });

  test('an undo of the way back restores the containers', async () => {
    const installation = trial.copy();
    await moveTo(installation, inContainers);
    await confirmMove(installation);
    await up({ installation, env });
    await moveTo(installation, embedded);
    await addMcpServer(installation);
    expect((await undoMove(installation))?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', engine: 'docker' });
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    await down({ installation });
    const moved = (await moveTo(installation, embedded)).moved;
    expect(moved.map(({ kind }) => kind)).not.toContain('mcpServer');
  });

  test.skipIf(findNatsServer() === null)('from processes of their own and back, the bus is carried too', async () => {
    const installation = trial.copy();
    await moveTo(installation, { topology: 'distributed' });
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
    expect([await contentOf(installation), notesIn(installation)]).toEqual([
      trial.original,
      'what an MCP server keeps',
    ]);
  });

  /** As somebody who is asked nothing, which must fail before that. */
  const refused = (installation: Installation, settings: { readonly env?: typeof env } = {}) =>
    moveTo(installation, inContainers, { confirm: () => expect.fail('it was asked'), ...settings });
  const expectUntouched = async (installation: Installation) => {
    expectSettled(installation);
    expect(existsSync(join(installation.stateDir, 'containers.json'))).toBe(false);
  };

  test('without Docker or an image, or with a conflicting svc.yaml or volume, it is refused before anything stops', async () => {
    const installation = trial.copy();
    const elsewhere = { env: { ...env, DOCKER_HOST: 'unix:///nowhere/docker.sock' } };
    const notRunning = { code: 'unavailable', message: expect.stringContaining('Docker is not running') };
    await expect(refused(installation, elsewhere)).rejects.toMatchObject(notRunning);
    const volume = `svc-${trial.id}-nats`;
    await trial.docker.createVolume({ Name: volume, Labels: { 'svc.installation': trial.id } });
    await expect(refused(installation)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(volume),
      hint: expect.stringContaining(`docker volume rm ${volume}`),
    });
    await trial.docker.getVolume(volume).remove();
    await expectUntouched(installation);
    expect(await contentOf(installation)).toEqual(trial.original);
    const sandboxed = replaceScalar(trial.original.definition, ['runtime', 'sandbox'], 'bwrap');
    writeFileSync(installation.definitionFile, sandboxed);
    await expect(refused(installation)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('runtime.sandbox: bwrap needs engine: process'),
    });
    const nobodys = trial.original.definition.replace('nats: nats:2.15.0-alpine', 'nats: nats-that-nobody-has:1.0.0');
    writeFileSync(installation.definitionFile, nobodys);
    await expect(refused(installation)).rejects.toMatchObject({
      message: expect.stringContaining('The image "nats-that-nobody-has:1.0.0" is missing'),
    });
    await expectUntouched(installation);
  });

  test('when Docker stops meanwhile, the old side continues, and leftovers in Docker are reported', async () => {
    const installation = trial.copy();
    await up({ installation, env });
    await using way = await openWay();
    const told: string[] = [];
    const onProgress = (progress: ReplaceProgress) => {
      if (progress.kind === 'notice') told.push(progress.message);
      if (progress.kind === 'step' && progress.step === 'verify') way.close();
    };
    const onTheWay = { env: { ...env, DOCKER_HOST: way.host }, onProgress };
    await expect(moveTo(installation, inContainers, onTheWay)).rejects.toThrow();
    expect(told.join('\n')).toContain('The new data is still there');
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    await addMcpServer(installation);
    await expectUntouched(installation);
    expect(await trial.inDocker()).toContain('forward');
    await expect(moveTo(installation, inContainers)).rejects.toMatchObject({
      hint: expect.stringContaining('docker volume rm'),
    });
    expect(await trial.inDocker()).not.toContain('forward');
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
  const trial = new MovesInContainers();
  const onDgraph: Side = { ...inContainers, graph: 'dgraph' };

  test('to Dgraph in containers, to a file there, and back: all data is unchanged', async () => {
    const installation = trial.copy();
    const there = await moveTo(installation, onDgraph);
    expect(there).toMatchObject({ from: embedded, to: onDgraph });
    expect(there.moved).toEqual(expect.arrayContaining([...trial.original.graph, ...trial.original.files]));
    expect((await up({ installation, env })).status.state).toBe('running');
    await addMcpServer(installation);
    expect((await undoMove(installation))?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    await down({ installation });
    expect(await trial.inDocker()).toEqual([]);

    const { graph, files } = await contentOf(installation);
    await moveTo(installation, onDgraph);
    await confirmMove(installation);
    const onFile = await moveTo(installation, { graph: 'sqlite' });
    expect([onFile.to, onFile.moved]).toEqual([inContainers, [...graph, ...files]]);
    expect(await trial.inDocker()).toEqual(['backend', 'nats', 'runtime']);
    expect(await undoMove(installation)).toMatchObject({ changes: [], uncounted: null });
    expect(await trial.inDocker()).toEqual(['dgraph-alpha', 'dgraph-zero', 'nats', 'runtime']);
    await moveTo(installation, { graph: 'sqlite' });
    await confirmMove(installation);
    expect(await trial.inDocker()).toEqual(['backend', 'nats', 'runtime']);
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toMatchObject({ graph, files, sessions: trial.original.sessions });
  });

  test.each(['dgraph-alpha', 'verify'])('killed at %s, the old side is there and whole', async (step) => {
    const installation = trial.copy();
    expect(await killedMove(installation, { to: onDgraph, step })).toBe('SIGKILL');
    await settleMove(installation);
    expect([await trial.inDocker(), leftovers(installation), readReplacement(installation)]).toEqual([[], [], null]);
    expect(await contentOf(installation)).toEqual(trial.original);
  });
});
