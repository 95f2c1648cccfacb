import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { emptyCluster, isEmptyCluster } from '../../../../services/backend/graph/dgraph/emptying.ts';
import { findDgraph, TestCluster } from '../../../../services/backend/graph/dgraph/test/test-cluster.ts';
import { Secret } from '../../../../services/contracts/secret.ts';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { readDefinition } from '../../../settings/check.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { graphIn } from '../../../state/data-files.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { readAlone } from '../../../state/left-processes.ts';
import { writePlace } from '../../../state/place-record.ts';
import { isAlive } from '../../../state/process-identity.ts';
import { freeDgraphPorts, freeServicePorts } from '../../../test/free-ports.ts';
import { down } from '../../down.ts';
import { readReplacement } from '../../replace/replacement.ts';
import { addMcpServer } from '../../test/installed.ts';
import { distributed, embedded, onDgraph } from '../../test/sides.ts';
import { dieAt, listen } from '../../test/trial.ts';
import { up } from '../../up.ts';
import { confirmMove, contentOf, expectSettled, moveAll, moveTo, openFilled, settleMove, undoMove } from './trial.ts';

// Dgraph holds elections at each start, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const env = process.env;

describe.skipIf(findDgraph() === null || findNatsServer() === null)('on a real Dgraph', () => {
  let filled: Awaited<ReturnType<typeof openFilled>>;
  let original: Awaited<ReturnType<typeof contentOf>>;
  /** A copy of the filled installation, moved to Dgraph. */
  let moved: Installation;
  let installation: Installation;
  const copy = async (of: Installation) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
    // The log files of Dgraph are sparse.
    spawnSync('cp', ['-a', '--sparse=always', `${of.dir}/.`, dir]);
    installation = installationIn(dir);
    // Another program may use the ports of the original, which chose them minutes ago.
    const services = Object.entries(await freeServicePorts()).map(([name, port]) => ({ path: ['ports', name], port }));
    const ports = await freeDgraphPorts();
    const places = [
      ...services,
      { path: ['graphdb', 'port'], port: ports['dgraph-alpha'] },
      { path: ['graphdb', 'zeroPort'], port: ports['dgraph-zero'] },
    ];
    const text = readFileSync(installation.definitionFile, 'utf8');
    const chosen = places.reduce((changed, { path, port }) => replaceScalar(changed, path, String(port)), text);
    writeFileSync(installation.definitionFile, chosen);
    // Here the copy is a separate installation, because its original never runs at the same time.
    writePlace(installation, readDefinition(installation.definitionFile).id);
    return chosen;
  };
  const confirm = () => confirmMove(installation);
  const undo = () => undoMove(installation);

  beforeAll(async () => {
    filled = await openFilled();
    original = await contentOf(filled.installation);
    await copy(filled.installation);
    await moveAll(installation, onDgraph);
    await confirm();
    moved = installation;
  });
  afterAll(async () => {
    rmSync(moved?.dir ?? '', { recursive: true, force: true });
    await filled?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await down({ installation });
    rmSync(installation.dir, { recursive: true, force: true });
  });

  test('to Dgraph and back, first to the file and then into one process, all data is unchanged', async () => {
    const definition = await copy(moved);
    const back = await moveTo(installation, { graph: 'sqlite' });
    expect([back.from, back.to, back.moved]).toEqual([onDgraph, distributed, [...original.graph, ...original.files]]);
    expect(existsSync(graphIn(installation.dataDir, 'dgraph'))).toBe(false);
    expect(existsSync(join(installation.dir, back.kept ?? '', 'content.backup.gz'))).toBe(true);
    await confirm();
    await moveTo(installation, embedded);
    const expected = definition
      .replace('topology: distributed', 'topology: embedded')
      .replace('graph: dgraph', 'graph: sqlite');
    expect(await contentOf(installation)).toEqual({ ...original, definition: expected });
  });

  test('straight back into one process all data is unchanged, also with other ports', async () => {
    await copy(moved);
    await moveTo(installation, { topology: 'embedded' });
    expect(await contentOf(installation)).toMatchObject({
      graph: original.graph,
      sessions: original.sessions,
      files: original.files,
    });
    // Without the program dgraph the move is not undone, and the new data stays.
    await expect(undoMove(installation, { PATH: '' })).rejects.toThrow('dgraph');
    expect(existsSync(graphIn(installation.dataDir, 'sqlite'))).toBe(true);
    await undo();
    expect(existsSync(graphIn(installation.dataDir, 'dgraph'))).toBe(true);
    await moveTo(installation, { topology: 'embedded' });
    expect((await contentOf(installation)).graph).toEqual(original.graph);
  });

  test.each(['fill', 'nats', 'dgraph-zero', 'dgraph-alpha', 'verify', 'write-definition'])(
    'killed at %s, the data before is there and whole, and nothing runs on',
    async (step) => {
      const definition = await copy(filled.installation);
      await dieAt(installation, [step], { to: onDgraph });
      expect(readReplacement(installation)?.step).toBe('filling');
      const left = readAlone(installation);
      await settleMove(installation);
      expect(left.filter(({ process }) => isAlive(process))).toEqual([]);
      expectSettled(installation);
      expect(await contentOf(installation)).toEqual({ ...original, definition });
    },
  );

  test.each(['keep', 'dgraph-alpha', 'fill', 'verify', 'write-definition'])(
    'killed at %s of the way back, nothing is lost',
    async (step) => {
      await copy(moved);
      await dieAt(installation, [step], { to: { graph: 'sqlite' } });
      await moveTo(installation, { graph: 'sqlite' });
      expect(readAlone(installation).filter(({ process }) => isAlive(process))).toEqual([]);
      await confirm();
      await moveTo(installation, embedded);
      expect((await contentOf(installation)).graph).toEqual(original.graph);
    },
  );

  test.each(['dgraph-alpha', 'stop', 'fill'])(
    'an undo killed at %s is repeated or finished the next time',
    async (step) => {
      await copy(moved);
      await moveTo(installation, { graph: 'sqlite' });
      await dieAt(installation, [step], { verb: 'undo' });
      await undo();
      expectSettled(installation);
      expect((await moveTo(installation, { graph: 'sqlite' })).moved).toEqual([...original.graph, ...original.files]);
    },
  );

  test('it runs on Dgraph, and an undo lists later changes, also while it runs', async () => {
    const definition = await copy(filled.installation);
    await moveTo(installation, onDgraph);
    const listener = listen();
    expect((await up({ installation, env, onProgress: listener.onProgress })).status).toMatchObject({
      state: 'running',
      services: expect.arrayContaining([expect.objectContaining({ name: 'dgraph-alpha' })]),
    });
    expect(listener.notices().filter((notice) => notice.includes('begins empty'))).toEqual([]);
    await addMcpServer(installation);
    expect((await undo())?.changes.map(({ kind }) => kind)).toContain('mcpServer');
    await down({ installation });
    const after = await contentOf(installation);
    expect(after.graph.map(({ kind }) => kind)).not.toContain('mcpServer');
    expect(after.definition).toBe(definition);
  });

  describe('that somebody else runs', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-dgraph-'));
    let cluster: TestCluster;
    const theirs = { user: 'groot', password: 'password' };
    beforeAll(async () => {
      cluster = await TestCluster.start(folder);
    });
    afterAll(async () => {
      await cluster?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const isEmpty = () => isEmptyCluster(TestCluster.optionsFor({ url: cluster.url, ...theirs }));
    const elsewhere = async () => {
      await copy(filled.installation);
      let text = readFileSync(installation.definitionFile, 'utf8');
      text = replaceScalar(replaceScalar(text, ['graphdb', 'url'], cluster.url), ['graphdb', 'user'], theirs.user);
      writeFileSync(installation.definitionFile, text);
      writeFileSync(join(installation.secretsDir, 'graphdb-password.key'), theirs.password, { mode: 0o600 });
    };

    test('an external Dgraph is filled in place and emptied by an undo; a filled one is refused', async () => {
      await elsewhere();
      await moveAll(installation, onDgraph);
      expect([await isEmpty(), existsSync(graphIn(installation.dataDir, 'dgraph'))]).toEqual([false, false]);
      const first = installation;
      await elsewhere();
      await expect(moveTo(installation, onDgraph)).rejects.toMatchObject({
        code: 'conflict',
        message: `The Dgraph at ${cluster.url} has data of a platform already, and a move fills an empty one.`,
      });
      rmSync(installation.dir, { recursive: true });
      installation = first;
      await undo();
      expect(await isEmpty()).toBe(true);
      expect((await contentOf(installation)).graph).toEqual(original.graph);
    });

    test('data moved away from an external Dgraph stays there, and an undo returns to it', async () => {
      await elsewhere();
      await moveTo(installation, onDgraph);
      await confirm();
      const back = await moveTo(installation, { graph: 'sqlite' });
      expect(back.moved).toEqual([...original.graph, ...original.files]);
      expect(readReplacement(installation)?.elsewhere).toEqual({ left: cluster.url, filled: null });
      expect(await undo()).toMatchObject({ changes: [], uncounted: null });
      expect((await moveTo(installation, { graph: 'sqlite' })).moved).toEqual([...original.graph, ...original.files]);
    });

    test('killed while it is filled, it is emptied again', async () => {
      const options = TestCluster.optionsFor({ url: cluster.url, ...theirs });
      await emptyCluster({ ...options, login: { user: theirs.user, password: new Secret(theirs.password) } });
      await elsewhere();
      await dieAt(installation, ['verify'], { to: onDgraph });
      expect(await isEmpty()).toBe(false);
      await settleMove(installation);
      expect(await isEmpty()).toBe(true);
    });
  });
});
