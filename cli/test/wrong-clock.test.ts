import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { makeDatedCertificate } from '../../stack/runtime-elsewhere/test/certificate.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

vi.setConfig({ testTimeout: 60_000 });

const hourMs = 3_600_000;

/** Environment of a command whose clock differs from the machine's. */
function clockAt(folder: string, aheadMs: number): Readonly<Record<string, string>> {
  const file = join(folder, 'clock.cjs');
  writeFileSync(file, `const now = Date.now; Date.now = () => now() + ${aheadMs};`);
  return { NODE_OPTIONS: `--require ${file}` };
}

describe('a command on a clock that is an hour behind that of the platform', () => {
  const { dir, svc } = withRunningPlatform();
  const late = (...args: string[]) => runSvc(args, { cwd: dir(), env: clockAt(dir(), -hourMs) });
  const told =
    /^Error: The platform refused the operator's token\. The clock of this machine is 60 minutes behind (the backend|remote-mcp)'s: here it is 20\S+Z, there 20\S+Z\.\nLet a time server set the clock/;

  beforeAll(async () => {
    await svc(
      'server',
      'add',
      'demo',
      '--',
      process.execPath,
      join(import.meta.dirname, '../../templates/demo/server.mjs'),
    );
  });

  test.each([
    ['server', 'list'],
    ['keys', 'create', 'one'],
    ['runtime', 'list'],
    ['tool', 'list'],
  ])('svc %s %s names the clock, and not the token', async (...args) => {
    const run = await late(...args);
    expect(run.stderr).toMatch(told);
    expect([run.stdout, run.code]).toEqual(['', 3]);
  });

  test('svc status shows the services, and says why it shows no MCP servers', async () => {
    const run = await late('status');
    expect(run.stdout).toMatch(/^backend +healthy/m);
    expect(run.stdout).toMatch(
      /^backend: MCP servers and runtimes are not shown: The platform refused .* 60 minutes behind the backend's/m,
    );
    expect(run.stdout).not.toMatch(/ -\d/);
    const { contentProblem } = JSON.parse((await late('status', '--json')).stdout);
    expect(contentProblem).toContain('60 minutes behind');
    expect(JSON.parse((await svc('status', '--json')).stdout).contentProblem).toBeNull();
  });

  test('svc keys test adds the clocks to the refusal of an expired key', async () => {
    const { stdout } = await svc('keys', 'create', 'short', '--expires', '2s', '--json');
    const { key } = JSON.parse(stdout);
    const ask = (env: Readonly<Record<string, string>>) =>
      runSvc(['keys', 'test'], { cwd: dir(), env: { ...env, SVC_API_KEY: key } });
    await expect.poll(async () => (await ask({})).stdout, { timeout: 20_000 }).toMatch(/past its expiration date/);
    expect((await ask({})).stdout).not.toContain('clock');
    const run = await ask(clockAt(dir(), -hourMs));
    expect(run.stdout).toMatch(/expiration date.*The clock of this machine is 60 minutes behind the platform's/s);
    expect(run.code).toBe(3);
  });
});

describe('svc keys test at a certificate out of date', () => {
  const dir = folderOfEachTest();

  test.each<[string, readonly [number, number], string | null, RegExp]>([
    [
      'whose clock agrees',
      [2020, 2021],
      null,
      /The certificate of localhost expired at 2021-01-01T00:00:00Z, and the clock of this machine says 20\S+Z\.\s+Renew the certificate\./,
    ],
    [
      'on a machine with another time, which is named',
      [2020, 2021],
      'Mon, 01 Jun 2020 12:00:00 GMT',
      /expired at .*The clock of this machine is \d+ days ahead of the platform's: here it is 20\S+Z, there 2020-06-01T12:00:00Z\.\s+Let a time server/s,
    ],
    [
      'that begins later, by the time there',
      [2090, 2095],
      'Thu, 01 Jun 2090 12:00:00 GMT',
      /is not valid before 2090-01-01T00:00:00Z.*The clock of this machine is \d+ days behind the platform's/s,
    ],
  ])('%s', async (_what, years, date, told) => {
    makeDatedCertificate(dir(), 'web', { names: 'DNS:localhost', years });
    const read = (name: string) => readFileSync(join(dir(), name));
    const asked: unknown[] = [];
    const server = createServer({ cert: read('web.pem'), key: read('web.key') }, ({ headers }, response) => {
      asked.push(headers.authorization);
      if (date !== null) response.setHeader('date', date);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}/mcp`;
    const env = { SVC_API_KEY: newKey('user').reveal(), NODE_EXTRA_CA_CERTS: join(dir(), 'web.pem') };
    const run = await runSvc(['keys', 'test', '--url', url], { cwd: dir(), env });
    expect(run.stdout).toMatch(told);
    expect([run.code, asked]).toEqual([4, [undefined]]);
  });
});
