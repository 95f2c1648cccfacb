import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { findDgraph } from '../../services/backend/graph/dgraph/test/test-cluster.ts';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { createInstallation } from '../../stack/operations/create-installation.ts';
import type { Graph, Topology } from '../../stack/settings/choices.ts';
import { replaceScalar } from '../../stack/settings/yaml-text.ts';
import { isAlive, type ProcessIdentity } from '../../stack/state/process-identity.ts';
import { freeDgraphPorts, freePort, freeServicePorts } from '../../stack/test/free-ports.ts';
import { runSvc, svcFile } from './run-svc.ts';

// Dgraph holds leader elections at each start, on a busy machine.
vi.setConfig({ testTimeout: 400_000 });

const folders: string[] = [];
afterEach(async () => {
  for (const dir of folders.splice(0)) {
    await runSvc(['down'], { cwd: dir, timeoutMs: 120_000 });
    rmSync(dir, { recursive: true, force: true });
  }
});

/** An empty installation with this topology and graph, on separate ports. */
async function emptyOne(topology: Topology, graph: Graph) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-backup-')));
  folders.push(dir);
  const { installation } = await createInstallation({ dir, topology, graph, ports: await freeServicePorts() });
  const { 'dgraph-alpha': port, 'dgraph-zero': zeroPort } = await freeDgraphPorts();
  const places: readonly (readonly [path: readonly string[], value: number])[] = [
    ...(topology === 'embedded' ? [] : [[['bus', 'port'], await freePort()] as const]),
    ...(graph === 'sqlite' ? [] : [[['graphdb', 'port'], port] as const, [['graphdb', 'zeroPort'], zeroPort] as const]),
  ];
  const before = readFileSync(installation.definitionFile, 'utf8');
  const chosen = places.reduce((text, [path, value]) => replaceScalar(text, path, String(value)), before);
  writeFileSync(installation.definitionFile, chosen);
  const run = (...args: string[]) => runSvc(args, { cwd: dir, timeoutMs: 240_000 });
  const svc = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    return code === 0 ? stdout : expect.fail(`svc ${args.join(' ')}: ${stderr}`);
  };
  const json = async (...args: string[]) => JSON.parse(await svc(...args, '--json'));
  return { dir, key: join(dir, 'secrets/encryption.key'), svc, json, run };
}

describe.each([
  ['distributed', 'sqlite', findNatsServer() !== null],
  ['distributed', 'dgraph', findNatsServer() !== null && findDgraph() !== null],
] as const)('%s with %s', (topology, graph, isThere) => {
  test.skipIf(!isThere)(
    'an archive of one process fills a Dgraph platform, and an archive of that one fills one process',
    async () => {
      const first = await emptyOne('embedded', 'sqlite');
      await first.svc('up');
      await first.svc('skill', 'create', 'notes');
      writeFileSync(join(first.dir, 'forms.md'), '# Forms\n');
      await first.svc('file', 'add', 'notes', 'forms.md');
      await first.svc('role', 'create', 'Writing', '--skill', 'notes');
      const { key } = await first.json('keys', 'create', '--name', 'agent');
      const session = await openSession((await first.json('status')).urls.mcp, key);
      const made = await first.json('backup', 'first.backup.gz');
      await first.svc('down');

      const other = await emptyOne(topology, graph);
      const restored = await other.json('restore', made.file, '--encryption-key-file', first.key);
      expect(restored).toMatchObject({ graph: made.graph, files: made.files, sessions: 1 });
      expect(readdirSync(join(other.dir, 'data')).filter((name) => name.startsWith('before-'))).toEqual([]);
      expect(await other.json('backup', 'stopped.gz')).toMatchObject({ graph: made.graph, bus: 'exact', sessions: 1 });
      expect(existsSync(join(other.dir, 'state/alone.json'))).toBe(false);
      await other.svc('up');
      const { mcp } = (await other.json('status')).urls;
      const asked = { key, session, body: rpc('tools/call', { name: 'load_skill', arguments: { skill: 'notes' } }) };
      expect((await send(mcp, asked)).text).toContain('forms.md');
      const { files } = await other.json('file', 'list', 'notes');
      expect(await (await fetch(files[0].url)).text()).toBe('# Forms\n');

      let acknowledged = -1;
      let isWriting = true;
      const writing = (async () => {
        for (let next = 0; isWriting; next++) {
          await other.svc('skill', 'create', `under-load-${next}`);
          acknowledged = next;
        }
      })();
      await expect.poll(() => acknowledged, { timeout: 60_000 }).toBeGreaterThan(2);
      const before = acknowledged;
      const live = await other.json('backup', 'live.backup.gz');
      isWriting = false;
      await writing;
      expect(live).toMatchObject({ bus: 'approximate', sessions: 1, files: made.files });
      const text = gunzipSync(readFileSync(live.file)).toString('utf8');
      const inside = [...text.matchAll(/"name":"under-load-(\d+)"/g)]
        .map(([, number]) => Number(number))
        .sort((a, b) => a - b);
      expect(inside).toEqual(inside.map((_, index) => index));
      expect(inside.length).toBeGreaterThan(before);
      await other.svc('down');

      const last = await emptyOne('embedded', 'sqlite');
      await last.svc('restore', live.file, '--encryption-key-file', other.key);
      const again = await last.json('backup', 'again.backup.gz');
      expect(again).toMatchObject({ graph: live.graph, files: live.files, usage: live.usage, sessions: live.sessions });
    },
  );

  test.skipIf(!isThere)('a restore that is killed leaves no process, and can be repeated', async () => {
    const first = await emptyOne('embedded', 'sqlite');
    await first.svc('up');
    const { file, graph: expected } = await first.json('backup', 'first.backup.gz');
    await first.svc('down');
    const other = await emptyOne(topology, graph);
    const args = ['restore', file, '--encryption-key-file', first.key];
    const record = join(other.dir, 'state/alone.json');
    const child = spawn(process.execPath, [svcFile, ...args], { cwd: other.dir, stdio: 'ignore' });
    await vi.waitUntil(() => existsSync(record), { timeout: 60_000, interval: 2 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const processes: { readonly process: ProcessIdentity }[] = JSON.parse(readFileSync(record, 'utf8'));
    expect(processes.length).toBeGreaterThan(0);
    expect(await other.json(...args)).toMatchObject({ graph: expected });
    expect(existsSync(record)).toBe(false);
    expect(processes.filter(({ process }) => isAlive(process))).toEqual([]);
    await other.svc('up');
    expect((await other.json('backup', 'again.backup.gz')).graph).toContainEqual(
      expected.find(({ kind }: { kind: string }) => kind === 'user'),
    );
  });
});
