import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { findDgraph } from '../../services/backend/graph/dgraph/test/test-cluster.ts';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
/** Dgraph starts several times, with leader elections each time. */
const dgraphTimeoutMs = 300_000;

const embedded = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const distributed = { topology: 'distributed', graph: 'sqlite', engine: 'process' };
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const { dir, svc } = withRunningPlatform();
  let mcp = '';
  let key = '';
  let session = '';
  let definition = '';
  const json = async (...args: string[]) => JSON.parse((await svc(...args, '--json')).stdout);

  beforeAll(async () => {
    await svc('server', 'add', 'demo', '--', process.execPath, demo);
    const skill = await json('skill', 'create', 'sums', '--tool', 'demo/add');
    await svc('role', 'create', 'Counting', '--skill', 'sums');
    key = (await json('keys', 'create', '--name', 'agent')).key;
    mcp = (await json('status')).urls.mcp;
    session = await openSession(`${mcp}?skillIds=${skill.id}`, key);
    definition = readFileSync(`${dir()}/svc.yaml`, 'utf8');
  });

  /** The tools of the session, its instructions, and the answer of a tool. */
  const use = async () => {
    const ask = async (method: string, params?: unknown) => {
      const { body, text } = await send(mcp, { key, session, body: rpc(method, params) });
      return body?.result ?? expect.fail(text);
    };
    const sum = await ask('tools/call', { name: 'add', arguments: { a: 2, b: 3 } });
    const { tools } = await ask('tools/list');
    return { names: tools.map(({ name }: { name: string }) => name), sum: sum.structuredContent };
  };

  test('an agent keeps its session and its tools through a move there and back', async () => {
    const before = await use();
    expect(before).toMatchObject({ names: expect.arrayContaining(['add']), sum: { sum: 5 } });
    const there = await json('move', '--to', 'distributed', '--graph', 'sqlite', '--engine', 'process', '--yes');
    expect(there).toMatchObject({ from: embedded, to: distributed, state: 'moved' });
    expect(there.kept).toMatch(/^data\/before-move-/);
    const counts = Object.fromEntries(there.moved.map(({ kind, count }: Record<string, unknown>) => [kind, count]));
    expect(counts).toMatchObject({ 'bus.sessions': 1, key: 1, skill: 1, mcpServer: 1 });
    for (const { digest } of there.moved) expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect((await json('status')).topology).toBe('distributed');
    expect(await use()).toEqual(before);

    const again = await svc('move', '--to', 'distributed');
    expect([again.code, again.stdout]).toEqual([0, 'Nothing to do: it is distributed with sqlite already.\n']);
    expect(again.stderr).toContain('not confirmed yet');
    const confirmed = await svc('move', '--confirm');
    expect(confirmed.stderr).toMatch(
      /^Removes data\/before-move-\S+ \(\d+(\.\d)? [KM]B\): embedded with sqlite, with its data of /m,
    );
    expect(confirmed.stdout).toMatch(/^Confirmed: it is distributed with sqlite/);

    const back = await svc('move', '--to', 'embedded', '--yes');
    expect([back.code, back.stdout]).toEqual([
      0,
      expect.stringMatching(/^Moved from distributed with sqlite to embedded with sqlite\./),
    ]);
    expect(back.stdout).toMatch(/^ {2}bus\.sessions +1 {2}sha256 [0-9a-f]{64}$/m);
    expect(await use()).toEqual(before);
    expect(readFileSync(`${dir()}/svc.yaml`, 'utf8')).toBe(definition);
    expect((await json('move', '--undo', '--yes')).state).toBe('undone');
    expect((await json('status')).topology).toBe('distributed');
    expect(await use()).toEqual(before);
    await svc('move', '--to', 'embedded', '--yes');
    expect((await json('move', '--confirm')).state).toBe('confirmed');
  });

  test.skipIf(findDgraph() === null)(
    'and through a move to Dgraph and back, with unchanged ids',
    async () => {
      const before = { use: await use(), skills: (await json('skill', 'list')).skills };
      const there = await json('move', '--to', 'distributed', '--graph', 'dgraph', '--yes');
      expect(there).toMatchObject({
        from: embedded,
        to: { topology: 'distributed', graph: 'dgraph', engine: 'process' },
        state: 'moved',
      });
      expect({ use: await use(), skills: (await json('skill', 'list')).skills }).toEqual(before);
      await svc('skill', 'create', 'since');
      await svc('move', '--confirm');
      const back = await svc('move', '--graph', 'sqlite', '--yes');
      expect(back.stderr).toMatch(/graph +all of it is carried from dgraph \(.*\) to sqlite$/m);
      expect(back.stderr).toMatch(/bus +stays unchanged, with agents' sessions$/m);
      await svc('skill', 'create', 'later');
      expect((await svc('move', '--undo', '--yes')).stderr).toMatch(/^ {2}skill: 1 new$/m);
      expect(await use()).toEqual(before.use);
      await svc('move', '--to', 'embedded', '--yes');
      const names = (await json('skill', 'list')).skills.map(({ name }: { name: string }) => name);
      expect([await use(), names.sort()]).toEqual([before.use, ['since', 'sums']]);
      await svc('move', '--confirm');
    },
    dgraphTimeoutMs,
  );

  test('it prints its plan, and needs --yes without a terminal', async () => {
    const { code, stdout, stderr } = await svc('move', '--to', 'distributed');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('svc.yaml   topology: embedded → distributed');
    expect(stderr).toMatch(/disk +needs \d.* free: /);
    expect(stderr).toMatch(/downtime +up to about \d+ s/);
    expect(stderr).toContain('Without a terminal, add --yes.');
    expect((await json('status')).state).toBe('running');
  });

  test('Ctrl-C while it stops the platform undoes the move, and agents continue', async () => {
    const interruptAt = '→ stop the platform';
    const run = await runSvc(['move', '--to', 'distributed', '--yes'], { cwd: dir(), interruptAt });
    expect([run.code, run.stdout]).toEqual([130, '']);
    expect(await json('status')).toMatchObject({ state: 'running', topology: 'embedded' });
    expect((await use()).sum).toEqual({ sum: 5 });
    expect((await svc('move', '--undo', '--yes')).stderr).toContain('There is no move');
  });

  test.each([
    [['move'], 2, 'needs one of --to (or --graph, --engine), --confirm and --undo'],
    [['move', '--graph', 'sqlite', '--confirm'], 2, 'needs one of'],
    [['move', '--to', 'distributed', '--undo'], 2, 'needs one of'],
    [['move', '--to', 'elsewhere'], 2, '--to must be embedded or distributed, not "elsewhere"'],
    [['move', '--engine', 'podman'], 2, '--engine must be process or docker, not "podman"'],
    [['move', '--engine', 'docker'], 2, 'engine: docker needs topology: distributed.'],
    [['move', '--graph', 'neo4j'], 2, '--graph must be sqlite or dgraph, not "neo4j"'],
    [['move', '--graph', 'dgraph'], 2, 'graph: dgraph needs topology: distributed.'],
    [['move', '--to', 'embedded', '--graph', 'dgraph'], 2, 'graph: dgraph needs topology: distributed.'],
    [['move', '--to', 'embedded', '--engine', 'docker'], 2, 'engine: docker needs topology: distributed.'],
    [['move', '--confirm'], 1, 'There is no move that waits'],
    [['move', '--undo', '--yes'], 1, 'There is no move that waits'],
  ])('%j is refused', async (args, expected, told) => {
    const { code, stdout, stderr } = await svc(...args);
    expect([code, stdout, stderr]).toEqual([expected, '', expect.stringContaining(told)]);
  });

  test('if the data is already there, it does nothing', async () => {
    const { code, stdout } = await svc('move', '--to', 'embedded');
    expect([code, stdout]).toEqual([0, 'Nothing to do: it is embedded with sqlite already.\n']);
    expect(await json('move', '--to', 'embedded')).toEqual({
      ...{ from: embedded, to: embedded, moved: [], kept: null, state: 'unchanged' },
    });
  });
});
