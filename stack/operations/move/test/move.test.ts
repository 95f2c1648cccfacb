import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findNatsServer, TestServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { readPlan } from '../../../engines/plan-of.ts';
import { ensureSecrets } from '../../../secrets/ensure-folders.ts';
import { busSeedsOf, secretFilesOf } from '../../../secrets/secrets.ts';
import { definitionOf } from '../../../settings/test/definition-of.ts';
import { blobsIn, busIn } from '../../../state/data-files.ts';
import type { Installation } from '../../../state/installation.ts';
import { readAlone } from '../../../state/left-processes.ts';
import { acquireLock } from '../../../state/lock.ts';
import { isAlive } from '../../../state/process-identity.ts';
import { down } from '../../down.ts';
import { readReplacement, writeReplacement } from '../../replace/replacement.ts';
import { addMcpServer } from '../../test/installed.ts';
import { distributed, embedded } from '../../test/sides.ts';
import { dieAt, listen, startCommand } from '../../test/trial.ts';
import { up } from '../../up.ts';
import type { MovePlan } from '../plan-move.ts';
import {
  confirmMove,
  contentOf,
  countOf,
  expectSettled,
  fillBus,
  filledCopies,
  keyMaxAgeMs,
  leftovers,
  moveAll,
  moveTo,
  settleMove,
  undoMove,
} from './trial.ts';

// Each test moves one to three times, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const env = process.env;

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const copies = filledCopies();
  let installation: Installation;
  let original: ReturnType<typeof copies.original>;
  beforeEach(() => {
    installation = copies.copy();
    original = copies.original();
  });
  const undo = () => undoMove(installation);
  const expectOriginal = async () => expect(await contentOf(installation)).toEqual(original);
  const stepNow = () => readReplacement(installation)?.step;

  test('there and back, all data is unchanged, svc.yaml is the same text, and the next move waits for the confirmation', async () => {
    const there = await moveAll(installation, distributed);
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(
      original.definition.replace('topology: embedded', 'topology: distributed'),
    );
    expect(statSync(installation.definitionFile).mode & 0o777).toBe(0o644);
    expect((await moveTo(installation, distributed)).state).toBe('waiting');
    await expect(moveTo(installation, embedded)).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('svc move --confirm'),
    });
    await confirmMove(installation);
    expect(leftovers(installation)).toEqual([]);
    expect((await moveTo(installation, embedded)).moved).toEqual(there.moved);
    await expectOriginal();
  });

  test('killed at any step, the data before is there and whole', async () => {
    for (const step of ['stop', 'keep', 'fill', 'nats', 'verify', 'write-definition']) {
      await dieAt(installation, [step], { to: distributed });
      expect([step, stepNow()]).toEqual([step, /stop|keep/.test(step) ? 'keeping' : 'filling']);
      const left = readAlone(installation);
      expect((await settleMove(installation)).join()).toContain('nothing has changed');
      expect(left.filter(({ process }) => isAlive(process))).toEqual([]);
      expectSettled(installation);
      await expectOriginal();
    }
    expect((await moveTo(installation, distributed)).state).toBe('moved');
  });

  test('an undo, a confirmation or a way back that is killed at any step is finished the next time', async () => {
    await moveTo(installation, distributed);
    for (const [step, left] of [
      ['stop', 'waiting'],
      ['fill', 'undoing'],
    ] as const) {
      await dieAt(installation, [step], { verb: 'undo' });
      expect([step, stepNow()]).toEqual([step, left]);
    }
    await undo();
    await expectOriginal();
    expectSettled(installation);

    await moveTo(installation, distributed);
    const state = readReplacement(installation) ?? expect.fail('it is not confirmed');
    writeReplacement(installation, { ...state, step: 'confirming' });
    await confirmMove(installation, () => expect.fail('it was told before'));
    expectSettled(installation);

    for (const step of ['stop', 'keep', 'nats', 'fill', 'verify', 'write-definition']) {
      await dieAt(installation, [step], { to: embedded });
    }
    await moveTo(installation, embedded);
    await expectOriginal();
    expect(leftovers(installation)).toHaveLength(1);
  });

  /** Kills the command `afterMs` after its first step, unless the command ends first. */
  async function endsBefore(verb: 'move' | 'undo', afterMs: number): Promise<boolean> {
    const { child, ended } = startCommand(verb, installation, { to: distributed });
    await Promise.race([once(child.stdout, 'data'), ended]);
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    const code = await ended;
    clearTimeout(timer);
    return code === 0;
  }

  test('killed at any moment, and while that is taken back, nothing is lost', async () => {
    for (const verb of ['move', 'undo'] as const) {
      for (let afterMs = 0; !(await endsBefore(verb, afterMs)); afterMs = Math.ceil(20 + afterMs * 1.25)) {
        // The undo of the killed command is killed too.
        await endsBefore('undo', 0);
        await settleMove(installation);
        // The kill came after the last step of a move, or before the first step of an undo.
        if (stepNow() === 'waiting') await undo();
        await expectOriginal();
        if (verb === 'undo') await moveTo(installation, distributed);
      }
    }
    await expectOriginal();
    expectSettled(installation);
  });

  test('an undo restores the old side from a whole archive, and lists later changes, which are lost', async () => {
    const { kept } = await moveTo(installation, distributed);
    await up({ installation, env });
    await addMcpServer(installation);
    writeFileSync(installation.definitionFile, `${readFileSync(installation.definitionFile, 'utf8')}# since\n`);
    const archive = join(installation.dir, kept ?? '', 'content.backup.gz');
    const whole = readFileSync(archive);
    writeFileSync(archive, whole.subarray(0, whole.length - 20));
    await expect(undo()).rejects.toThrow('is cut');
    expect(existsSync(busIn(installation.dataDir, 'distributed'))).toBe(true);
    writeFileSync(archive, whole);
    const { changes: lost } = (await undo()) ?? expect.fail('nothing was asked');
    expect(lost).toContainEqual({ kind: 'mcpServer', added: 1, changed: 0, removed: 0 });
    // Data from before the move is not a change.
    expect(lost.map(({ kind }) => kind)).not.toContain('user');
    await down({ installation });
    const { graph, definition } = await contentOf(installation);
    expect(graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(definition).toBe(original.definition);
  });

  test('a new side that does not start is reported, with the command that goes back, which works', async () => {
    await up({ installation, env });
    const port = readPlan(installation).ports.backend;
    const stranger = createServer();
    onTestFinished(() => void stranger.close());
    const onStep = (step: string) => step === 'start' && stranger.listen(port, '127.0.0.1');
    await expect(moveTo(installation, distributed, { onStep })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('All was moved, but the platform does not start'),
      hint: expect.stringContaining('svc move --undo'),
    });
    stranger.close();
    await undo();
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
  });

  test('without nats-server, or with data of an earlier bus in the new place, it is refused before it asks', async () => {
    const secrets = readdirSync(installation.secretsDir);
    const confirm = () => expect.fail('it was asked');
    await expect(moveTo(installation, distributed, { env: { PATH: '' }, confirm })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('nats-server'),
    });
    mkdirSync(busIn(installation.dataDir, 'distributed'));
    await expect(moveTo(installation, distributed, { confirm })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('data/nats'),
      hint: expect.stringContaining('outside of data/: data/nats'),
    });
    expect(readdirSync(installation.secretsDir)).toEqual(secrets);
    expectSettled(installation);
    await expectOriginal();
  });

  test('files of skills count in the needed room', async () => {
    const needed: number[] = [];
    const confirm = async ({ neededBytes }: MovePlan) => {
      needed.push(neededBytes);
      throw new Error('declined');
    };
    const decline = () => expect(moveTo(installation, distributed, { confirm })).rejects.toThrow('declined');
    await decline();
    const more = Buffer.alloc(5_000_000, 'x');
    writeFileSync(join(blobsIn(installation.dataDir), 'more'), more);
    await decline();
    expect((needed[1] ?? 0) - (needed[0] ?? 0)).toBe(more.byteLength);
  });

  test('while another svc is at work it is refused', async () => {
    using _lock = acquireLock(installation, 'command');
    await expect(moveTo(installation, distributed)).rejects.toMatchObject({ code: 'conflict' });
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
    const startAgain = async () => {
      const listener = listen();
      const { status } = await up({ installation, env, onProgress: listener.onProgress });
      return [status.state, status.topology, listener.notices().filter((notice) => notice.startsWith('The move'))];
    };
    await up({ installation, env });
    await dieAt(installation, ['nats'], { to: distributed });
    const left = readAlone(installation);
    expect(left.map(({ name, process }) => [name, isAlive(process)])).toEqual([['nats', true]]);
    expect((await down({ installation })).outcome).toBe('unchanged');
    expect(left.filter(({ process }) => isAlive(process))).toEqual([]);
    const notice = expect.stringContaining('nothing has changed');
    expect(await startAgain()).toEqual(['running', 'embedded', [notice]]);
    await dieAt(installation, ['write-definition'], { to: distributed });
    await undo();
    expect(await startAgain()).toEqual(['running', 'embedded', []]);
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(original.definition);
    await dieAt(installation, ['start'], { to: distributed });
    expect(await startAgain()).toEqual(['running', 'distributed', []]);
  });

  test('from an external bus, which is not changed', async () => {
    ensureSecrets(installation, definitionOf('topology: distributed\n'));
    const seeds = busSeedsOf(secretFilesOf(installation));
    const server = await TestServer.start(installation.stateDir, { seeds });
    onTestFinished(() => server.stop());
    await fillBus({ engine: 'nats', servers: [server.url], caPath: null, seeds, keyMaxAgeMs });
    rmSync(busIn(installation.dataDir, 'embedded'));
    const elsewhere = original.definition
      .replace('topology: embedded', 'topology: distributed')
      .replace('servers: auto', `servers: [${server.url}]`);
    writeFileSync(installation.definitionFile, elsewhere);
    await moveTo(installation, embedded);
    await expectOriginal();
    await undo();
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(elsewhere);
    expect(countOf((await moveTo(installation, embedded)).moved, 'bus.sessions')).toBe(2);
  });

  test('where nothing is kept through a stop anyway, the bus has nothing to carry', async () => {
    const memory = original.definition.replace('persistentMessaging: true', 'persistentMessaging: false');
    writeFileSync(installation.definitionFile, memory);
    const { moved } = await moveTo(installation, distributed);
    expect(countOf(moved, 'bus.usage')).toBeUndefined();
    expect(countOf(moved, 'graph')).toBe(countOf(original.graph, 'graph'));
    expect(existsSync(busIn(installation.dataDir, 'distributed'))).toBe(false);
  });
});
