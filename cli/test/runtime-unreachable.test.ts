import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { partOf } from '../../stack/engines/process/test/trial.ts';
import { makeDatedCertificate } from '../../stack/runtime-elsewhere/test/certificate.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { freePort } from '../../stack/test/free-ports.ts';
import { Elsewhere } from './elsewhere.ts';
import { withPlatformForOthers } from './platform-for-others.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Writes edge.env, starts the runtime, and returns its exit code and message. */
async function startIn({ folder, start }: Elsewhere, variables: Readonly<Record<string, string>>) {
  const env = { RUNTIME_KEY: newKey('runtime').reveal(), SVC_WORKING_DIR: 'work', ...variables };
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, 'edge.env'), lines.join(''), { mode: 0o600 });
  const runtime = start('--wait', '0s');
  return {
    code: await runtime.end(),
    stderr: runtime.stderr,
    all: runtime.stdout + runtime.stderr,
    key: env.RUNTIME_KEY,
  };
}

/** Address of a bus that shows a certificate of these years. It counts what it receives after the handshake. */
async function busWithCertificate(folder: string, years: readonly [number, number]) {
  makeDatedCertificate(folder, 'dated', { names: 'DNS:localhost', years });
  const read = (name: string) => readFileSync(join(folder, name));
  const secureContext = createSecureContext({ cert: read('dated.pem'), key: read('dated.key') });
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('INFO {"server_id":"x","version":"2.11.0","proto":1,"max_payload":1048576,"tls_required":true}\r\n');
    const secured = new TLSSocket(socket, { isServer: true, secureContext });
    secured.on('error', () => undefined);
    secured.on('data', (chunk) => received.push(String(chunk)));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { address: `tls://localhost:${port}`, received };
}

describe('without a platform, svc runtime start ends with 4 and says what is wrong', () => {
  test.each<[string, () => Promise<string> | string, RegExp, RegExp]>([
    [
      'nothing listens',
      async () => `nats://127.0.0.1:${await freePort()}`,
      /^Error: Cannot reach the bus at nats:\/\/127\.0\.0\.1:\d+: connection refused\.$/m,
      /^That machine answers, and nothing listens on that port\. Check on it whether the platform runs: svc status\./m,
    ],
    [
      'the host name is wrong',
      () => 'tls://bus.invalid:4222',
      /^Error: Cannot reach the bus at tls:\/\/bus\.invalid:4222: (its name|names) cannot be resolved/m,
      /DNS of this machine/,
    ],
    [
      'no route leads there',
      // An address of documentation (RFC 5737) at a port of discard: a network refuses it or drops it.
      () => 'nats://240.0.0.1:9',
      /^Error: Cannot reach the bus at nats:\/\/240\.0\.0\.1:9: (host unreachable|it does not answer)\.$/m,
      /^Check the address in BUS_SERVERS, the network of this machine, and the firewalls/m,
    ],
  ])('%s', async (_what, address, told, hint) => {
    using elsewhere = new Elsewhere();
    const run = await startIn(elsewhere, { BUS_SERVERS: await address() });
    expect(run.stderr).toMatch(told);
    expect(run.stderr).toMatch(hint);
    expect(run.code).toBe(4);
    expect(run.all).not.toContain(run.key);
  });

  test.each<[string, readonly [number, number], string, RegExp]>([
    [
      'its certificate expired',
      [2020, 2021],
      'expired at 2021-01-01T00:00:00Z',
      /must renew the certificate\. If not: /,
    ],
    [
      'its certificate begins later, so this clock is wrong',
      [2090, 2095],
      'is not valid before 2090-01-01T00:00:00Z',
      /^The clock of this machine is wrong\. .*timedatectl set-ntp true$/m,
    ],
  ])('%s', async (_what, years, dates, hint) => {
    using elsewhere = new Elsewhere();
    const { address, received } = await busWithCertificate(elsewhere.folder, years);
    const run = await startIn(elsewhere, { BUS_SERVERS: address, BUS_CA_PATH: 'dated.pem' });
    expect(run.stderr).toContain(
      `received no credential: its certificate ${dates}, and the clock of this machine says 20`,
    );
    expect(run.stderr).toMatch(hint);
    expect([run.code, received]).toEqual([4, []]);
  });

  test('an unusable --wait is refused', async () => {
    using elsewhere = new Elsewhere();
    writeFileSync(join(elsewhere.folder, 'edge.env'), '', { mode: 0o600 });
    const run = elsewhere.start('--wait', 'long');
    expect(await run.end()).toBe(2);
    expect(run.stderr).toContain('--wait must be a span such as 30s or 5m, or "forever", not "long".');
  });
});

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  const { folder, bus, svc } = withPlatformForOthers();
  const reached = () => ({ BUS_SERVERS: bus(), BUS_CA_PATH: join(folder(), 'secrets/bus.pem') });
  const registered = async (name: string): Promise<string> =>
    JSON.parse((await svc('runtime', 'register', name, '--json')).stdout).key;

  test('a key that it never issued is not known', async () => {
    using elsewhere = new Elsewhere();
    const run = await startIn(elsewhere, reached());
    expect(run.stderr).toMatch(
      /^Error: This RUNTIME_KEY is not known to the platform\.\nIt belongs to another platform/m,
    );
    expect(run.code).toBe(3);
  });

  test('a revoked key is told apart, and is unknown once its runtime is registered again', async () => {
    using elsewhere = new Elsewhere();
    const key = await registered('gone');
    await svc('runtime', 'revoke', 'gone', '--yes');
    const run = await startIn(elsewhere, { ...reached(), RUNTIME_KEY: key });
    expect(run.stderr).toMatch(/^Error: The runtime "gone" was revoked\.\nAsk the operator of the platform/m);
    expect(run.code).toBe(3);
    await registered('gone');
    const later = await startIn(elsewhere, { ...reached(), RUNTIME_KEY: key });
    expect(later.stderr).toMatch(/^Error: This RUNTIME_KEY is not known to the platform\.$/m);
  });

  test('an authority that did not sign the certificate is told', async () => {
    using elsewhere = new Elsewhere();
    const run = await startIn(elsewhere, { BUS_SERVERS: bus() });
    expect(run.stderr).toMatch(
      /is not trusted, and received no credential: it has a self-signed certificate\.\n.*BUS_CA_PATH/,
    );
    expect(run.code).toBe(4);
  });

  test('a certificate for another name is told, also for an address', async () => {
    using elsewhere = new Elsewhere();
    const run = await startIn(elsewhere, { ...reached(), BUS_SERVERS: bus().replace('localhost', '127.0.0.1') });
    expect(run.stderr).toMatch(
      /received no credential: its certificate is for another name\.\nThe certificate must be for/,
    );
    expect(run.code).toBe(4);
  });

  test('a clock that differs is told with both times, and the runtime works', async () => {
    using elsewhere = new Elsewhere();
    const early = join(elsewhere.folder, 'early.cjs');
    writeFileSync(early, 'const now = Date.now; Date.now = () => now() - 600_000;');
    const env = { ...reached(), RUNTIME_KEY: await registered('early') };
    const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(elsewhere.folder, 'edge.env'), lines.join(''), { mode: 0o600 });
    const runtime = elsewhere.startWith({ NODE_OPTIONS: `--require ${early}` });
    await expect.poll(() => runtime.said('was accepted by the backend'), { timeout: 20_000 }).toBe(true);
    expect(runtime.stderr).toMatch(
      /^! The clock of this machine is 10 minutes behind the platform's: here it is 20\S+Z, there 20\S+Z\. Let a time server/m,
    );
    expect(await runtime.end('SIGTERM')).toBe(0);
  });

  test('a platform whose backend does not answer is told', async () => {
    using elsewhere = new Elsewhere();
    const pid = partOf(installationIn(folder()), 'backend').process?.pid ?? expect.fail('it does not run');
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    const run = await startIn(elsewhere, { ...reached(), RUNTIME_KEY: newKey('runtime').reveal() });
    expect(run.stderr).toMatch(/^Error: .*\n.*svc status/m);
    expect(run.code).toBe(4);
  });

  test('a platform that is down is told', async () => {
    using elsewhere = new Elsewhere();
    await svc('down');
    const run = await startIn(elsewhere, reached());
    expect(run.stderr).toMatch(/connection refused\.\nThat machine answers, and nothing listens on that port\./);
    expect(run.code).toBe(4);
  });
});
