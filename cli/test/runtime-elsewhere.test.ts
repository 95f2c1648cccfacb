import { spawnSync } from 'node:child_process';
import { copyFileSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { makeCertificate } from '../../stack/runtime-elsewhere/test/certificate.ts';
import { Elsewhere } from '../../stack/runtime-elsewhere/test/elsewhere.ts';
import { freePorts } from '../../stack/test/free-ports.ts';
import { runSvc, svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const patiently = { timeout: 30_000, interval: 200 };

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  // The folder of the installation, and one that represents another machine.
  let here: Elsewhere;
  let there: Elsewhere;
  let address = '';
  const svc = (...args: string[]) => runSvc(args, { cwd: here.folder });

  beforeAll(async () => {
    here = new Elsewhere();
    there = new Elsewhere();
    const [port = 0, backend = 0, mcp = 0, runtime = 0, frontend = 0] = await freePorts(5);
    address = `tls://localhost:${port}`;
    await svc('init', '.', '--yes', '--topology', 'distributed', '--graph', 'sqlite');
    makeCertificate(join(here.folder, 'secrets'), 'bus', 'DNS:localhost');
    const tls = '{ cert: secrets/bus.pem, key: secrets/bus.key, ca: secrets/bus.pem }';
    edit('public: null', `public: { servers: [${address}], bind: 127.0.0.1, tls: ${tls} }`);
    edit('  port: auto', `  port: ${port}`);
    edit('backend: auto # 3000', `backend: ${backend}`);
    edit('remote-mcp: auto', `remote-mcp: ${mcp}`);
    edit('runtime: auto', `runtime: ${runtime}`);
    edit('frontend: auto # 8888', `frontend: ${frontend}`);
    const { code, stderr } = await svc('up');
    expect(stderr + code).toMatch(/0$/);
  });
  afterAll(async () => {
    if (here === undefined) return;
    await svc('down');
    for (const folder of [here, there]) folder[Symbol.dispose]();
  });

  function edit(from: string, to: string): void {
    const file = join(here.folder, 'svc.yaml');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  }

  const bindings = async () => JSON.parse((await svc('runtime', 'list', '--json')).stdout).runtimes;

  test('a runtime is registered with everything that another machine needs, as JSON', async () => {
    const run = await svc('runtime', 'register', 'lab', '--json');
    const answer = JSON.parse(run.stdout);
    expect(answer).toMatchObject({
      ...{ id: expect.stringMatching(/^run_/), name: 'lab', key: expect.stringMatching(/^RTK_/), prefix: 'RTK_' },
      env: {
        RUNTIME_KEY: answer.key,
        BUS_SERVERS: address,
        BUS_CA_PATH: 'lab-ca.pem',
        SVC_WORKING_DIR: 'lab-work',
      },
      ...{ command: 'svc runtime start --variable-file lab.env', file: null, overlapEndsAt: null },
      authority: { file: 'lab-ca.pem', pem: readFileSync(join(here.folder, 'secrets/bus.pem'), 'utf8') },
      systemd: expect.stringContaining('EnvironmentFile=/etc/svc/lab.env'),
    });
    expect(run.code).toBe(0);
  });

  test('the variables are printed if no file is named, and the key once', async () => {
    const { code, stdout, stderr } = await svc('runtime', 'register', 'bench');
    expect(stdout).toMatch(
      /^# .*\nRUNTIME_KEY=RTK_\w+\nBUS_SERVERS=tls:\S+\nBUS_CA_PATH=bench-ca.pem\nSVC_WORKING_DIR=/,
    );
    expect((stdout + stderr).match(/RTK_\w+/g)).toHaveLength(1);
    expect(stderr).toContain('svc runtime start --variable-file bench.env');
    expect(stderr).toContain(`! ${address} is a loopback address, which other machines cannot reach. Set bus.public`);
    expect(code).toBe(0);
  });

  test('it is registered, copied to another folder, bound to, renewed and revoked', async () => {
    const out = join(there.folder, 'edge.env');
    const registered = await svc('runtime', 'register', 'edge', '--out', out);
    expect([registered.stdout, registered.code]).toEqual([`Wrote ${out}, and edge-ca.pem beside it.\n`, 0]);
    expect(registered.stderr).not.toContain('RTK_');
    expect(statSync(out).mode & 0o777).toBe(0o600);

    const again = await svc('runtime', 'register', 'edge', '--out', out);
    expect(again.stderr).toMatch(
      /^Error: --out ".*edge\.env" exists already, and nothing was registered\.\n.*--overwrite/,
    );
    expect(again.code).toBe(5);

    const started = there.start();
    const added = await svc('server', 'add', 'demo', '--runtime', 'edge', '--', process.execPath, demo);
    if (added.code !== 0) expect.fail(added.stderr + started.stdout + started.stderr);
    await expect
      .poll(async () => (await svc('server', 'show', 'demo')).stdout, patiently)
      .toMatch(/^status +Connected$[\s\S]*^runtime +edge$/m);
    expect(await bindings()).toContainEqual(
      expect.objectContaining({ name: 'edge', available: true, mcpServers: ['demo'] }),
    );

    const renewed = await svc('runtime', 'register', 'edge', '--out', out, '--overwrite');
    expect(renewed.stderr).toMatch(
      /Its previous key stays valid until 20\d\d-.*Z\. Then a runtime that uses it is disconnected\./,
    );
    expect(await started.end('SIGINT')).toBe(0);
    const withNewKey = there.start();
    await expect.poll(() => withNewKey.said('was accepted by the backend'), patiently).toBe(true);

    const revoked = await svc('runtime', 'revoke', 'edge', '--yes');
    expect(revoked.stdout).toBe('Revoked edge. Agents lose its MCP servers: demo.\n');
    expect(await withNewKey.end()).toBe(3);
    expect(withNewKey.stderr).toMatch(
      /was revoked\.\nAsk the operator of the platform for a new one: svc runtime register\.\n/,
    );
    expect((await bindings()).map(({ name }: { name: string }) => name)).not.toContain('edge');
  });

  test('a key redirected to a file that other users may read causes a warning', async () => {
    const file = join(here.folder, 'readable.env');
    writeFileSync(file, '', { mode: 0o644 });
    const run = spawnSync(process.execPath, [svcFile, 'runtime', 'register', 'loose'], {
      cwd: here.folder,
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    });
    expect(String(run.stderr)).toContain('may be read by others (mode 0644): chmod 600 FILE');
    expect(readFileSync(file, 'utf8')).toContain('RTK_');
  });

  test('an unusable certificate is refused before anything starts', async () => {
    const file = join(here.folder, 'svc.yaml');
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
