import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { partOf } from '../../stack/engines/process/test/trial.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { connectAgent } from '../../stack/test/agent.ts';
import type { StartedProgram } from '../../stack/test/started-program.ts';
import { Elsewhere } from './elsewhere.ts';
import { withPlatformForOthers } from './platform-for-others.ts';
import { svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const patiently = { timeout: 30_000, interval: 200 };
/** A runtime that the platform did not disconnect would learn of its end within fifteen seconds, by its next handshake. */
const soon = { timeout: 5000, interval: 20 };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const { folder, bus, mcpUrl, edit, svc } = withPlatformForOthers();
  // Represents another machine.
  let there: Elsewhere;
  beforeAll(() => {
    there = new Elsewhere();
  });
  afterAll(() => there?.[Symbol.dispose]());

  const bindings = async () => JSON.parse((await svc('runtime', 'list', '--json')).stdout).runtimes;

  test('a runtime is registered with everything that another machine needs, as JSON', async () => {
    const run = await svc('runtime', 'register', 'lab', '--json');
    const answer = JSON.parse(run.stdout);
    expect(answer).toMatchObject({
      ...{ id: expect.stringMatching(/^run_/), name: 'lab', key: expect.stringMatching(/^RTK_/), prefix: 'RTK_' },
      env: {
        RUNTIME_KEY: answer.key,
        BUS_SERVERS: bus(),
        BUS_CA_PATH: 'lab-ca.pem',
        SVC_WORKING_DIR: 'lab-work',
      },
      ...{ command: 'svc runtime start --variable-file lab.env', file: null, overlapEndsAt: null },
      authority: { file: 'lab-ca.pem', pem: readFileSync(join(folder(), 'secrets/bus.pem'), 'utf8') },
      systemd: expect.stringContaining('EnvironmentFile=/etc/svc/lab.env'),
      shell: expect.stringContaining(`RUNTIME_KEY=${answer.key}\n`),
      docker: expect.stringMatching(
        /^docker run .* svc-platform@\d+\.\d+\.\d+ -c 'exec svc-platform runtime start .*lab\.env'$/s,
      ),
    });
    expect(run.code).toBe(0);
  });

  test('a block to paste is printed if no file is named, with the key once', async () => {
    const { code, stdout, stderr } = await svc('runtime', 'register', 'bench');
    expect(stdout).toMatch(/^RUNTIME_KEY=RTK_\w+\nBUS_SERVERS=tls:\S+\nBUS_CA_PATH=bench-ca.pem\nSVC_WORKING_DIR=/m);
    expect((stdout + stderr).match(/RTK_\w+/g)).toHaveLength(1);
    expect(stderr).toMatch(/^Paste this into a shell of the other machine/);
    expect(stderr).toContain('docker run -d --name svc-runtime-bench ');
    expect(stderr).toContain('systemctl enable --now svc-runtime-bench.service');
    expect(stderr).toContain(
      `! ${bus()} is a loopback address, which other machines cannot reach. An operator sets bus.public`,
    );
    expect(code).toBe(0);
  });

  test('it needs only the output of register, serves agents, is alone in its folder, and leaves nothing when it is ended', async () => {
    const out = join(there.folder, 'edge.env');
    const registered = await svc('runtime', 'register', 'edge', '--out', out);
    expect(registered.stdout).toMatch(
      /^Wrote .*edge\.env, and edge-ca\.pem beside it\.\nchmod 600 edge\.env &&\nnpx .* --variable-file edge\.env\n$/,
    );
    expect(registered.code).toBe(0);
    expect(registered.stderr).not.toContain('RTK_');
    expect(statSync(out).mode & 0o777).toBe(0o600);

    const again = await svc('runtime', 'register', 'edge', '--out', out);
    expect(again.stderr).toMatch(
      /^Error: --out ".*edge\.env" exists already, and nothing was registered\.\n.*--overwrite/,
    );
    expect(again.code).toBe(5);

    appendFileSync(out, 'HEARTBEAT_INTERVAL=200\n');
    const started = there.start();
    const added = await svc('server', 'add', 'demo', '--runtime', 'edge', '--', process.execPath, demo);
    if (added.code !== 0) expect.fail(added.stderr + started.stdout + started.stderr);
    await expect
      .poll(async () => (await svc('server', 'show', 'demo')).stdout, patiently)
      .toMatch(/^status +Connected$[\s\S]*^runtime +edge$/m);
    expect(await bindings()).toContainEqual(
      expect.objectContaining({ name: 'edge', available: true, mcpServers: ['demo'] }),
    );

    const second = there.start();
    expect(await second.end()).toBe(5);
    expect(second.stderr).toContain(`Another runtime (svc runtime, process ${started.child.pid}) works in`);

    const sum = await agentThatAdds();
    await expect.poll(sum, patiently).toBe('2');
    await started.end('SIGKILL');
    await expect.poll(sum, patiently).toMatch(/MCP server "demo" is Disconnected: .*runtime "edge".*svc runtime/s);
    const back = there.start();
    await expect.poll(sum, patiently).toBe('2');
    expect(existsSync(join(there.folder, 'edge-work/homes'))).toBe(true);
    expect(await back.end('SIGINT')).toBe(0);
    expect(back.stderr).toMatch(/Stopped; its MCP servers have ended\.\n$/);
    expect(back.lines.every(({ service }) => service === 'runtime')).toBe(true);
    expect(back.stdout + back.stderr).not.toContain('RTK_');
  });

  /** Asks the MCP server for one and one, as an agent. */
  async function agentThatAdds() {
    const { id } = JSON.parse((await svc('skill', 'create', 'all', '--tool', 'demo/add', '--json')).stdout);
    await svc('role', 'create', 'All', '--skill', 'all');
    const { key } = JSON.parse((await svc('keys', 'create', '--name', 'agent', '--json')).stdout);
    const agent = await connectAgent(`${mcpUrl()}?skillIds=${id}`, key);
    return () => agent.text('add', { a: 1, b: 1 }).catch((error: Error) => error.message);
  }

  test('one with a replaced key ends when its day is over, and a revoked one at once, with the reason', async () => {
    using elsewhere = new Elsewhere();
    const out = join(elsewhere.folder, 'edge.env');
    await svc('runtime', 'register', 'field', '--out', out);
    const late = await accepted(elsewhere);
    const renewed = await svc('runtime', 'register', 'field', '--out', out, '--overwrite');
    expect(renewed.stderr).toMatch(
      /Its previous key stays valid until 20\d\d-.*Z\. Then a runtime that uses it is disconnected\./,
    );
    letReplacedKeysExpire();
    expect(await late.end()).toBe(3);
    expect(late.stderr).toContain('This RUNTIME_KEY has expired: a newer one was issued.');

    const withNewKey = await accepted(elsewhere);
    const revoked = await svc('runtime', 'revoke', 'field', '--yes');
    expect(revoked.stdout).toMatch(/^Revoked field\./);
    await expect.poll(() => withNewKey.said('changed the connection to the bus'), soon).toBe(true);
    expect(await withNewKey.end()).toBe(3);
    expect(withNewKey.stderr).toMatch(
      /was revoked\.\nAsk the operator of the platform to register it again: svc runtime register NAME\.\n/,
    );
    expect((await bindings()).map(({ name }: { name: string }) => name)).not.toContain('field');
    const asJson = elsewhere.start('--json');
    expect(await asJson.end()).toBe(3);
    expect(asJson.lines.at(-1)).toMatchObject({
      error: {
        code: 'unauthenticated',
        message: 'The runtime "field" was revoked.',
        hint: expect.stringContaining('svc runtime register'),
      },
    });
  });

  async function accepted(elsewhere: Elsewhere): Promise<StartedProgram> {
    const runtime = elsewhere.start();
    await expect.poll(() => runtime.said('was accepted by the backend'), patiently).toBe(true);
    return runtime;
  }

  /** As if a day had passed. A backend that starts looks for such keys at once. */
  function letReplacedKeysExpire(): void {
    using database = new DatabaseSync(join(folder(), 'data/graph.sqlite'), { timeout: 5000 });
    const now = Date.now();
    database.prepare('update runtimeKey set expiresAt = ? where expiresAt > ?').run(now, now);
    process.kill(partOf(installationIn(folder()), 'backend').process?.pid ?? expect.fail('it does not run'), 'SIGKILL');
  }

  test('a bus with an unknown authority does not get the key, and is waited for if that is wanted', async () => {
    using elsewhere = new Elsewhere();
    const variables = `RUNTIME_KEY=${newKey('runtime').reveal()}\nBUS_SERVERS=${bus()}\nSVC_WORKING_DIR=work\n`;
    writeFileSync(join(elsewhere.folder, 'edge.env'), variables, { mode: 0o600 });
    const runtime = elsewhere.start('--wait', 'forever');
    await expect.poll(() => runtime.said('failed to connect to the bus'), patiently).toBe(true);
    expect(runtime.stdout).toMatch(
      /is not trusted, and received no credential: it has a self-signed certificate\..*BUS_CA_PATH/,
    );
    expect(await runtime.end('SIGTERM')).toBe(0);
  });

  test('a key redirected to a file that other users may read causes a warning', async () => {
    const file = join(folder(), 'readable.env');
    writeFileSync(file, '', { mode: 0o644 });
    const run = spawnSync(process.execPath, [svcFile, 'runtime', 'register', 'loose'], {
      cwd: folder(),
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    });
    expect(String(run.stderr)).toContain('may be read by others (mode 0644): chmod 600 FILE');
    expect(readFileSync(file, 'utf8')).toContain('RTK_');
  });

  test('an unusable certificate is refused before anything starts', async () => {
    const file = join(folder(), 'svc.yaml');
    copyFileSync(file, `${file}.good`);
    edit('key: secrets/bus.key, ca: secrets/bus.pem', 'key: secrets/none.key, ca: secrets/bus.pem');
    const run = await svc('config', 'check');
    copyFileSync(`${file}.good`, file);
    edit('ca: secrets/bus.pem } }', 'ca: secrets/none.pem } }');
    const refused = await svc('runtime', 'register', 'never');
    copyFileSync(`${file}.good`, file);
    expect(refused.stderr).toMatch(/authority of the bus, ".*none\.pem", cannot be read\. Nothing was registered\./);
    expect((await bindings()).map(({ name }: { name: string }) => name)).not.toContain('never');
    expect(run.stderr).toMatch(/svc\.yaml:\d+:\d+ bus\.public\.tls\.key cannot be used: .*none\.key does not exist\./);
    expect(run.code).toBe(2);
  });
});
