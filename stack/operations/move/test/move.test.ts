import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Secret } from '../../../../services/contracts/secret.ts';
import { findNatsServer, TestServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { readPlan } from '../../../engines/plan-of.ts';
import { ensureSecrets } from '../../../secrets/ensure-secrets.ts';
import { readSecret, secretFilesOf } from '../../../secrets/secrets.ts';
import { checkDefinition } from '../../../settings/check.ts';
import { blobsIn, busIn } from '../../../state/data-files.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { acquireLock } from '../../../state/lock.ts';
import { isAlive } from '../../../state/process-identity.ts';
import { down } from '../../down.ts';
import { listen } from '../../test/trial.ts';
import { up } from '../../up.ts';
import { confirmMove, undoMove } from '../end-move.ts';
import { move } from '../move.ts';
import { readMove, writeMove } from '../move-state.ts';
import type { MovePlan } from '../plan-move.ts';
import { settleMove } from '../settle-move.ts';
import { addMcpServer, contentOf, countOf, fill, killedMove, leftovers, moveTo, openFilled, texts } from './trial.ts';

// Each moves once to three times, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const env = process.env;
const distributed = { topology: 'distributed' } as const;
const embedded = { topology: 'embedded' } as const;
const bothInOne = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const bothApart = { topology: 'distributed', graph: 'sqlite', engine: 'process' };
const onProgress = () => undefined;

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  let filled: Awaited<ReturnType<typeof openFilled>>;
  let original: Awaited<ReturnType<typeof contentOf>>;
  let installation: Installation;
  beforeAll(async () => {
    filled = await openFilled();
    original = await contentOf(filled.installation);
  });
  afterAll(() => filled?.[Symbol.asyncDispose]());
  /** Each test has its own copy of the same installation. */
  const copy = () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
    cpSync(filled.installation.dir, dir, { recursive: true });
    installation = installationIn(dir);
    // Recorded as the place of another folder, this one would be refused as a copy.
    rmSync(join(installation.stateDir, 'place.json'));
  };
  afterEach(async () => {
    await down({ installation });
    rmSync(installation.dir, { recursive: true, force: true });
  });

  test('there and back, everything is as it was, and svc.yaml is the same text', async () => {
    copy();
    const there = await moveTo(installation, distributed);
    expect(there).toMatchObject({ state: 'moved', from: bothInOne, to: bothApart, downMs: null });
    expect([countOf(there.moved, 'bus.usage'), countOf(there.moved, 'bus.sessions')]).toEqual([texts.length, 2]);
    expect(there.moved).toEqual(expect.arrayContaining([...original.graph, ...original.files]));
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(
      original.definition.replace('topology: embedded', 'topology: distributed'),
    );
    expect(statSync(installation.definitionFile).mode & 0o777).toBe(0o644);
    await confirmMove({ installation, env, onProgress }, () => undefined);
    expect(leftovers(installation)).toEqual([]);
    const back = await moveTo(installation, embedded);
    const digests = (moved: typeof back.moved) => moved.map(({ kind, digest }) => `${kind} ${digest}`);
    expect(digests(back.moved)).toEqual(digests(there.moved));
    expect(await contentOf(installation)).toEqual(original);
  });

  test.each(['stop', 'keep', 'carry', 'nats', 'verify'])(
    'killed at %s, the old side is there and whole',
    async (step) => {
      copy();
      expect(await killedMove(installation, { step })).toBe('SIGKILL');
      const left = readMove(installation);
      expect(left?.phase).toBe('preparing');
      const notices: string[] = [];
      await settleMove(installation, (message) => void notices.push(message));
      expect(notices.join()).toContain('everything is as it was before');
      expect(left?.processes.filter(({ process }) => isAlive(process))).toEqual([]);
      expect([leftovers(installation), readMove(installation)]).toEqual([[], null]);
      expect(await contentOf(installation)).toEqual(original);
      expect((await moveTo(installation, distributed)).state).toBe('moved');
    },
  );

  test.each(['set-aside', 'put-in-place', 'write-definition'])('killed at %s, it is finished', async (step) => {
    copy();
    expect(await killedMove(installation, { step })).toBe('SIGKILL');
    expect(readMove(installation)?.phase).toBe('switching');
    const notices: string[] = [];
    const finished = await moveTo(installation, distributed, (message) => void notices.push(message));
    expect(notices.join()).toContain('is finished now');
    expect([finished.state, countOf(finished.moved, 'bus.sessions')]).toEqual(['moved', 2]);
    await confirmMove({ installation, env, onProgress }, () => undefined);
    await moveTo(installation, embedded);
    expect(await contentOf(installation)).toEqual(original);
  });

  test.each(['stop', 'keep', 'carry', 'verify', 'set-aside', 'put-in-place', 'write-definition'])(
    'killed at %s on the way back, nothing is lost',
    async (step) => {
      copy();
      await moveTo(installation, distributed);
      await confirmMove({ installation, env, onProgress }, () => undefined);
      expect(await killedMove(installation, { to: embedded, step })).toBe('SIGKILL');
      await moveTo(installation, embedded);
      expect(await contentOf(installation)).toEqual(original);
      expect(leftovers(installation)).toHaveLength(1);
    },
  );

  test.each(['stop', 'set-aside', 'put-in-place', 'write-definition'])(
    'an undo that is killed at %s is begun or finished the next time',
    async (step) => {
      copy();
      await moveTo(installation, distributed);
      expect(await killedMove(installation, { verb: 'undo', step })).toBe('SIGKILL');
      await undoMove({ installation, env, onProgress }, async () => undefined);
      expect(await contentOf(installation)).toEqual(original);
      expect([leftovers(installation), readMove(installation)]).toEqual([[], null]);
    },
  );

  test('a confirmation that is killed is finished the next time', async () => {
    copy();
    await moveTo(installation, distributed);
    const state = readMove(installation) ?? expect.fail('it is not confirmed');
    writeMove(installation, { ...state, phase: 'confirming' });
    await confirmMove({ installation, env, onProgress }, () => expect.fail('it was told before'));
    expect([leftovers(installation), readMove(installation)]).toEqual([[], null]);
  });

  test('undone, it is the old side again, and what was written since is told and gone', async () => {
    copy();
    await moveTo(installation, distributed);
    await up({ installation, env });
    await addMcpServer(installation);
    writeFileSync(installation.definitionFile, `${readFileSync(installation.definitionFile, 'utf8')}# since\n`);
    const lost: string[] = [];
    await undoMove({ installation, env, onProgress }, async ({ changes }) => {
      lost.push(...changes.map(({ kind }) => kind));
    });
    expect(lost).toContain('mcpServer');
    await down({ installation });
    const { graph, definition } = await contentOf(installation);
    expect(graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(definition).toBe(original.definition);
  });

  test('an undo that is declined changes nothing', async () => {
    copy();
    const { kept } = await moveTo(installation, distributed);
    const declined = new Error('no');
    await expect(undoMove({ installation, env, onProgress }, () => Promise.reject(declined))).rejects.toBe(declined);
    expect(readMove(installation)).toMatchObject({ phase: 'moved', kept });
  });

  test('where it is already there is nothing to do, and another move waits until one is confirmed', async () => {
    copy();
    expect(await moveTo(installation, embedded)).toMatchObject({ state: 'unchanged', kept: null, moved: [] });
    await moveTo(installation, distributed);
    await expect(moveTo(installation, embedded)).rejects.toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('svc move --confirm'),
    });
    expect((await moveTo(installation, distributed)).state).toBe('waiting');
  });

  test('a new side that does not start is told, with the way back, which leads there', async () => {
    copy();
    await up({ installation, env });
    const port = readPlan(installation).ports.backend;
    const stranger = createServer();
    onTestFinished(() => void stranger.close());
    const failing = move({
      installation,
      to: distributed,
      env,
      confirm: async () => undefined,
      onProgress: (progress) => {
        if (progress.kind === 'step' && progress.step === 'start') stranger.listen(port, '127.0.0.1');
      },
    });
    await expect(failing).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('All was moved, and what is there now does not start'),
      hint: expect.stringContaining('svc move --undo'),
    });
    stranger.close();
    await undoMove({ installation, env, onProgress }, async () => undefined);
    expect((await up({ installation, env })).status).toMatchObject({ state: 'running', topology: 'embedded' });
  });

  test('declined, or without nats-server, nothing is stopped and nothing is changed', async () => {
    copy();
    const secrets = readdirSync(installation.secretsDir);
    const declined = new Error('no');
    await expect(
      move({ installation, to: distributed, env: { PATH: '' }, confirm: () => expect.fail('it was asked') }),
    ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('nats-server') });
    expect(readdirSync(installation.secretsDir)).toEqual(secrets);
    await expect(move({ installation, to: distributed, env, confirm: () => Promise.reject(declined) })).rejects.toBe(
      declined,
    );
    expect([leftovers(installation), readMove(installation)]).toEqual([[], null]);
    expect(await contentOf(installation)).toEqual(original);
  });

  test('files of skills count in what it needs', async () => {
    copy();
    const needed = async () => {
      const plans: MovePlan[] = [];
      const confirm = async (plan: MovePlan) => void plans.push(plan);
      const declined = (plan: MovePlan) => confirm(plan).then(() => Promise.reject(new Error('declined')));
      await expect(move({ installation, to: distributed, env, confirm: declined })).rejects.toThrow('declined');
      return plans[0]?.neededBytes ?? Number.NaN;
    };
    const before = await needed();
    const more = Buffer.alloc(5_000_000, 'x');
    writeFileSync(join(blobsIn(installation.dataDir), 'more'), more);
    expect((await needed()) - before).toBe(more.byteLength);
  });

  test('while another svc is at work it is refused, and nothing waits to be ended', async () => {
    copy();
    const lock = acquireLock(installation, 'command');
    await expect(moveTo(installation, distributed)).rejects.toMatchObject({ code: 'conflict' });
    lock.release();
    await expect(confirmMove({ installation, env, onProgress }, () => undefined)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test.each(['stop', 'keep', 'carry', 'verify'])('interrupted at %s, it is taken back and runs on', async (step) => {
    copy();
    await up({ installation, env });
    const interrupting = new AbortController();
    const interrupted = move({
      installation,
      to: distributed,
      env,
      confirm: async () => undefined,
      signal: interrupting.signal,
      onProgress: (progress) => {
        if (progress.kind === 'step' && progress.step === step) interrupting.abort(new Error('Ctrl-C'));
      },
    });
    await expect(interrupted).rejects.toThrow('Ctrl-C');
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    await down({ installation });
    expect((await contentOf(installation)).sessions).toEqual(original.sessions);
  });

  test.each([
    ['nats', 'embedded', 'everything is as it was before'],
    ['put-in-place', 'distributed', 'is finished now'],
    ['start', 'distributed', null],
  ])('killed at %s while the platform ran, svc up runs it as %s', async (step, topology, told) => {
    copy();
    await up({ installation, env });
    expect(await killedMove(installation, { step })).toBe('SIGKILL');
    const heard = listen();
    const { status } = await up({ installation, env, onProgress: heard.onProgress });
    expect(status).toMatchObject({ state: 'running', topology });
    const notices = heard.notices().filter((notice) => notice.startsWith('The move'));
    expect(notices).toEqual(told === null ? [] : [expect.stringContaining(told)]);
  });

  test('killed at put-in-place while the platform ran, an undo runs it as it was', async () => {
    copy();
    await up({ installation, env });
    expect(await killedMove(installation, { step: 'put-in-place' })).toBe('SIGKILL');
    await undoMove({ installation, env, onProgress }, async () => undefined);
    expect((await up({ installation, env })).outcome).toBe('unchanged');
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(original.definition);
  });

  test('killed at nats, svc down ends the bus that it had started', async () => {
    copy();
    expect(await killedMove(installation, { step: 'nats' })).toBe('SIGKILL');
    const { processes } = readMove(installation) ?? expect.fail('it was not begun');
    expect(processes.map(({ name, process }) => [name, isAlive(process)])).toEqual([['nats', true]]);
    expect((await down({ installation })).outcome).toBe('unchanged');
    expect(processes.filter(({ process }) => isAlive(process))).toEqual([]);
    expect(leftovers(installation)).toEqual([]);
  });

  test('from a bus that somebody else runs, which stays as it is', async () => {
    copy();
    const { busCalloutSeed, busSystemSeed, busIssuerSeed } = secretFilesOf(installation);
    ensureSecrets(installation, checkDefinition('id: abcdef0123456789\ntopology: distributed\n', 'svc.yaml'));
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
    await undoMove({ installation, env, onProgress }, async () => undefined);
    expect(readFileSync(installation.definitionFile, 'utf8')).toBe(elsewhere);
    expect((await moveTo(installation, embedded)).moved).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: 'bus.sessions', count: 2 })]),
    );
  });

  test('where nothing is kept through a stop anyway, the bus has nothing to carry', async () => {
    copy();
    const memory = original.definition.replace('persistentMessaging: true', 'persistentMessaging: false');
    writeFileSync(installation.definitionFile, memory);
    const { moved } = await moveTo(installation, distributed);
    expect([countOf(moved, 'bus.usage'), countOf(moved, 'graph')]).toEqual([
      undefined,
      countOf(original.graph, 'graph'),
    ]);
    expect(existsSync(busIn(installation.dataDir, 'distributed'))).toBe(false);
  });

  test('a bus of an earlier time, left where the new one shall be, is kept too', async () => {
    copy();
    mkdirSync(busIn(installation.dataDir, 'distributed'));
    writeFileSync(join(busIn(installation.dataDir, 'distributed'), 'old'), '');
    const { kept } = await moveTo(installation, distributed);
    expect(existsSync(join(installation.dir, kept ?? '', 'nats/old'))).toBe(true);
    expect(existsSync(join(busIn(installation.dataDir, 'distributed'), 'old'))).toBe(false);
  });
});
