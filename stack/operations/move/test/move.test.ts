import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Secret } from '../../../../services/contracts/secret.ts';
import { findNatsServer, TestServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { readPlan } from '../../../engines/plan-of.ts';
import { ensureSecrets } from '../../../secrets/ensure-folders.ts';
import { readSecret, secretFilesOf } from '../../../secrets/secrets.ts';
import { definitionOf } from '../../../settings/test/definition-of.ts';
import { blobsIn, busIn } from '../../../state/data-files.ts';
import type { Installation } from '../../../state/installation.ts';
import { readAlone } from '../../../state/left-processes.ts';
import { acquireLock } from '../../../state/lock.ts';
import { isAlive } from '../../../state/process-identity.ts';
import { down } from '../../down.ts';
import { readReplacement, writeReplacement } from '../../replace/replacement.ts';
import { addMcpServer } from '../../test/installed.ts';
import { listen } from '../../test/trial.ts';
import { up } from '../../up.ts';
import type { MovePlan } from '../plan-move.ts';
import {
  confirmMove,
  contentOf,
  countOf,
  endsBefore,
  expectBusIn,
  expectSettled,
  fill,
  filledCopies,
  killedMove,
  leftovers,
  moveTo,
  settleMove,
  undoMove,
} from './trial.ts';

// Each moves once to three times, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const env = process.env;
const distributed = { topology: 'distributed' } as const;
const embedded = { topology: 'embedded' } as const;
const bothInOne = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const bothApart = { topology: 'distributed', graph: 'sqlite', engine: 'process' };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const copies = filledCopies();
  let installation: Installation;
  let original: ReturnType<typeof copies.original>;
  beforeEach(() => {
    installation = copies.copy();
    original = copies.original();
  });
  const confirm = () => confirmMove(installation);
  const undo = () => undoMove(installation);

  test('there and back, all data is unchanged, and svc.yaml is the same text', async () => {
    const there = await moveTo(installation, distributed);
    expect(there).toMatchObject({ state: 'moved', from: bothInOne, to: bothApart, downMs: null });
    expectBusIn(there);
    expect(there.moved).toEqual(expect.arrayContaining([...original.graph, ...original.files]));
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(
      original.definition.replace('topology: embedded', 'topology: distributed'),
    );
    expect(statSync(installation.definitionFile).mode & 0o777).toBe(0o644);
    await confirm();
    expect(leftovers(installation)).toEqual([]);
    const back = await moveTo(installation, embedded);
    const digests = (moved: typeof back.moved) => moved.map(({ kind, digest }) => `${kind} ${digest}`);
    expect(digests(back.moved)).toEqual(digests(there.moved));
    expect(await contentOf(installation)).toEqual(original);
  });

  test('killed at any step, the data before is there and whole', async () => {
    for (const step of ['stop', 'keep', 'fill', 'nats', 'verify', 'write-definition']) {
      expect([step, await killedMove(installation, { step })]).toEqual([step, 'SIGKILL']);
      expect([step, readReplacement(installation)?.step]).toEqual([
        step,
        /stop|keep/.test(step) ? 'keeping' : 'filling',
      ]);
      const left = readAlone(installation);
      expect((await settleMove(installation)).join()).toContain('everything is as it was before');
      expect(left.filter(({ process }) => isAlive(process))).toEqual([]);
      expectSettled(installation);
      expect(await contentOf(installation)).toEqual(original);
    }
    expect((await moveTo(installation, distributed)).state).toBe('moved');
  });

  test('killed at any moment, and while that is taken back, nothing is lost', async () => {
    let isMoved = false;
    for (let afterMs = 0; !isMoved; afterMs += 60) {
      isMoved = await endsBefore(installation, { afterMs });
      if (isMoved) break;
      // What takes it back is killed too.
      await endsBefore(installation, { verb: 'undo', afterMs: 0 });
      await settleMove(installation);
      const state = readReplacement(installation)?.step ?? null;
      // Killed after its last step, the move waits.
      if (state === 'waiting') await undo();
      expect(await contentOf(installation)).toEqual(original);
    }
    for (let afterMs = 0; ; afterMs += 60) {
      if (await endsBefore(installation, { verb: 'undo', afterMs })) break;
      await settleMove(installation);
      if (readReplacement(installation) === null) {
        expect(await contentOf(installation)).toEqual(original);
        await moveTo(installation, distributed);
      }
    }
    expect(await contentOf(installation)).toEqual(original);
    expectSettled(installation);
  });

  test('killed at any step of the way back, nothing is lost', async () => {
    await moveTo(installation, distributed);
    await confirm();
    for (const step of ['stop', 'keep', 'nats', 'fill', 'verify', 'write-definition']) {
      expect([step, await killedMove(installation, { to: embedded, step })]).toEqual([step, 'SIGKILL']);
    }
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toEqual(original);
    expect(leftovers(installation)).toHaveLength(1);
  });

  test('an undo that is killed is repeated, or finished the next time', async () => {
    await moveTo(installation, distributed);
    for (const [step, left] of [
      ['stop', 'waiting'],
      ['fill', 'undoing'],
    ] as const) {
      expect(await killedMove(installation, { verb: 'undo', step })).toBe('SIGKILL');
      expect([step, readReplacement(installation)?.step]).toEqual([step, left]);
    }
    await undo();
    expect(await contentOf(installation)).toEqual(original);
    expectSettled(installation);
  });

  test('a cut archive is never used, and the present data stays', async () => {
    const { kept } = await moveTo(installation, distributed);
    const archive = join(installation.dir, kept ?? '', 'content.backup.gz');
    const whole = readFileSync(archive);
    writeFileSync(archive, whole.subarray(0, whole.length - 20));
    await expect(undo()).rejects.toThrow('is cut');
    expect(existsSync(busIn(installation.dataDir, 'distributed'))).toBe(true);
    writeFileSync(archive, whole);
    await undo();
    expect(await contentOf(installation)).toEqual(original);
  });

  test('a move of an older version that waits is refused, and no obstacle to a start', async () => {
    const older = join(installation.stateDir, 'move.json');
    writeFileSync(older, JSON.stringify({ phase: 'moved' }));
    const refusal = { code: 'unsupported', hint: expect.stringContaining('with that version') };
    await expect(moveTo(installation, distributed)).rejects.toMatchObject(refusal);
    await expect(undo()).rejects.toMatchObject(refusal);
    expect((await up({ installation, env })).outcome).toBe('started');
    await down({ installation });
    writeFileSync(older, JSON.stringify({ phase: 'switching' }));
    await expect(up({ installation, env })).rejects.toMatchObject(refusal);
  });

  test('a confirmation that is killed is finished the next time', async () => {
    await moveTo(installation, distributed);
    const state = readReplacement(installation) ?? expect.fail('it is not confirmed');
    writeReplacement(installation, { ...state, step: 'confirming' });
    await confirmMove(installation, () => expect.fail('it was told before'));
    expectSettled(installation);
  });

  test('an undo restores the old side, and lists later changes, which are lost', async () => {
    await moveTo(installation, distributed);
    await up({ installation, env });
    await addMcpServer(installation);
    writeFileSync(installation.definitionFile, `${readFileSync(installation.definitionFile, 'utf8')}# since\n`);
    const { changes: lost } = (await undo()) ?? expect.fail('nothing was asked');
    expect(lost).toContainEqual({ kind: 'mcpServer', added: 1, changed: 0, removed: 0 });
    // What was there before is no change.
    expect(lost.map(({ kind }) => kind)).not.toContain('user');
    await down({ installation });
    const { graph, definition } = await contentOf(installation);
    expect(graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(definition).toBe(original.definition);
  });

  test('a move to the present side does nothing, and another move waits until one is confirmed', async () => {
    expect(await moveTo(installation, embedded)).toMatchObject({ state: 'unchanged', kept: null, moved: [] });
    await moveTo(installation, distributed);
    await expect(moveTo(installation, embedded)).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('svc move --confirm'),
    });
    expect((await moveTo(installation, distributed)).state).toBe('waiting');
  });

  test('a new side that does not start is reported, with the command that goes back, which works', async () => {
    await up({ installation, env });
    const port = readPlan(installation).ports.backend;
    const stranger = createServer();
    onTestFinished(() => void stranger.close());
    const onStep = (step: string) => step === 'start' && stranger.listen(port, '127.0.0.1');
    await expect(moveTo(installation, distributed, { onStep })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('All was moved, and what is there now does not start'),
      hint: expect.stringContaining('svc move --undo'),
    });
    stranger.close();
    await undo();
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
  });

  test('without nats-server, nothing is stopped and nothing is changed', async () => {
    const secrets = readdirSync(installation.secretsDir);
    const settings = { env: { PATH: '' }, confirm: () => expect.fail('it was asked') };
    await expect(moveTo(installation, distributed, settings)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('nats-server'),
    });
    expect(readdirSync(installation.secretsDir)).toEqual(secrets);
    expectSettled(installation);
    expect(await contentOf(installation)).toEqual(original);
  });

  test('files of skills count in the needed room', async () => {
    const needed = async () => {
      let neededBytes = Number.NaN;
      const confirm = async (plan: MovePlan) => {
        neededBytes = plan.neededBytes;
        throw new Error('declined');
      };
      await expect(moveTo(installation, distributed, { confirm })).rejects.toThrow('declined');
      return neededBytes;
    };
    const before = await needed();
    const more = Buffer.alloc(5_000_000, 'x');
    writeFileSync(join(blobsIn(installation.dataDir), 'more'), more);
    expect((await needed()) - before).toBe(more.byteLength);
  });

  test('while another svc is at work it is refused', async () => {
    const lock = acquireLock(installation, 'command');
    await expect(moveTo(installation, distributed)).rejects.toMatchObject({ code: 'conflict' });
    lock.release();
  });

  test('interrupted at any step, it is taken back and runs on', async () => {
    await up({ installation, env });
    for (const step of ['stop', 'keep', 'fill', 'verify']) {
      const interrupting = new AbortController();
      const onStep = (begun: string) => begun === step && interrupting.abort(new Error('Ctrl-C'));
      await expect(moveTo(installation, distributed, { onStep, signal: interrupting.signal })).rejects.toThrow(
        'Ctrl-C',
      );
      expect([step, (await up({ installation, env })).outcome]).toEqual([step, 'unchanged']);
    }
    await down({ installation });
    expect((await contentOf(installation)).sessions).toEqual(original.sessions);
  });

  test('killed while the platform ran, svc up and an undo run the old side, and svc up the new one once it is whole', async () => {
    const kill = async (step: string) =>
      expect([step, await killedMove(installation, { step })]).toEqual([step, 'SIGKILL']);
    const startAgain = async () => {
      const heard = listen();
      const { status } = await up({ installation, env, onProgress: heard.onProgress });
      return [status.state, status.topology, heard.notices().filter((notice) => notice.startsWith('The move'))];
    };
    await up({ installation, env });
    await kill('nats');
    const told = expect.stringContaining('everything is as it was before');
    expect(await startAgain()).toEqual(['running', 'embedded', [told]]);
    await kill('write-definition');
    await undo();
    expect(await startAgain()).toEqual(['running', 'embedded', []]);
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(original.definition);
    await kill('start');
    expect(await startAgain()).toEqual(['running', 'distributed', []]);
  });

  test('killed at nats, svc down ends the bus that it had started', async () => {
    expect(await killedMove(installation, { step: 'nats' })).toBe('SIGKILL');
    const processes = readAlone(installation);
    expect(processes.map(({ name, process }) => [name, isAlive(process)])).toEqual([['nats', true]]);
    expect((await down({ installation })).outcome).toBe('unchanged');
    expect(processes.filter(({ process }) => isAlive(process))).toEqual([]);
    await settleMove(installation);
    expect(leftovers(installation)).toEqual([]);
  });

  test('from an external bus, which is not changed', async () => {
    const { busCalloutSeed, busSystemSeed, busIssuerSeed } = secretFilesOf(installation);
    ensureSecrets(installation, definitionOf('topology: distributed\n'));
    const seed = (file: string) => new Secret(readSecret(file));
    const seeds = { callout: seed(busCalloutSeed), system: seed(busSystemSeed), issuer: seed(busIssuerSeed) };
    const server = await TestServer.start(installation.stateDir, { seeds });
    onTestFinished(() => server.stop());
    const bus = { engine: 'nats', servers: [server.url], caPath: null, seeds } as const;
    await fill(bus);
    rmSync(busIn(installation.dataDir, 'embedded'));
    const elsewhere = original.definition
      .replace('topology: embedded', 'topology: distributed')
      .replace('servers: auto', `servers: [${server.url}]`);
    writeFileSync(installation.definitionFile, elsewhere);
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toEqual(original);
    await undo();
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(elsewhere);
    expect((await moveTo(installation, embedded)).moved).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: 'bus.sessions', count: 2 })]),
    );
  });

  test('where nothing is kept through a stop anyway, the bus has nothing to carry', async () => {
    const memory = original.definition.replace('persistentMessaging: true', 'persistentMessaging: false');
    writeFileSync(installation.definitionFile, memory);
    const { moved } = await moveTo(installation, distributed);
    expect(countOf(moved, 'bus.usage')).toBeUndefined();
    expect(countOf(moved, 'graph')).toBe(countOf(original.graph, 'graph'));
    expect(existsSync(busIn(installation.dataDir, 'distributed'))).toBe(false);
  });

  test('data of an earlier bus in the new place is refused by name', async () => {
    mkdirSync(busIn(installation.dataDir, 'distributed'));
    await expect(moveTo(installation, distributed)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('data/nats'),
      hint: expect.stringContaining('outside of data/: data/nats'),
    });
    expectSettled(installation);
  });
});
