import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontNotices } from '../../settings/addresses.ts';
import { usualPorts } from '../../settings/ports.ts';
import { definitionOf } from '../../settings/test/definition-of.ts';
import { checkFrontPorts } from './check-programs.ts';

const distributed = (yaml: string) => definitionOf(`topology: distributed\n${yaml}`);
const open = distributed('public: { host: agents.example.com, tls: acme }');

/** A user without privileges, even if root runs the tests. */
const person = 65_534;

async function asPerson<Result>(work: () => Promise<Result>): Promise<Result> {
  const own = process.geteuid?.() ?? person;
  if (own !== 0) return work();
  process.seteuid?.(person);
  try {
    return await work();
  } finally {
    process.seteuid?.(own);
  }
}

/** In many containers and on macOS every user may listen on ports below 1024, so no port is refused. */
const firstPortFile = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const arePrivileged = existsSync(firstPortFile) && Number(readFileSync(firstPortFile, 'utf8')) > 81;

describe('the ports of the front', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-front-ports-'));
    chmodSync(dir, 0o755);
    install('caddy', '');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const install = (name: string, script: string) => {
    writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, name), 0o755);
  };
  const check = (ports: Readonly<Record<string, number>>) =>
    asPerson(() => checkFrontPorts(open, { ...usualPorts, ...ports }, dir));

  describe.skipIf(!arePrivileged)("that are root's", () => {
    test('are refused to others, with their place and with how to get them', async () => {
      install('getcap', `echo "${dir}/caddy cap_net_raw=ep"`);
      await expect(check({ 'caddy-https': 20_443, 'caddy-http': 81 })).rejects.toMatchObject({
        code: 'forbidden',
        message: 'Port 81 (public.httpPort in svc.yaml) is privileged: this user may not listen on it.',
        hint: expect.stringContaining(`sudo setcap cap_net_bind_service=+ep "${dir}/caddy"`),
      });
    });

    test.each(['=ep', '+ep', '=eip'])('are left to a Caddy that was given the right (%s)', async (how) => {
      install('getcap', `echo "$1 cap_net_bind_service${how}"`);
      await expect(check({ 'caddy-https': 20_443, 'caddy-http': 81 })).resolves.toBeUndefined();
    });
  });

  test('without a holder are accepted', async () => {
    await expect(check({ 'caddy-https': 20_443, 'caddy-http': 20_080 })).resolves.toBeUndefined();
  });
});

test.each<[string, boolean]>([
  ['public: { host: agents.example.com, tls: acme }', true],
  ['bind: "::1"\npublic: { host: agents.example.com, tls: acme }', true],
  ['bind: "::"\npublic: { host: agents.example.com, tls: acme }', false],
  ['bind: 0.0.0.0\npublic: { host: agents.example.com, tls: acme }', false],
  ['public: { host: localhost, tls: files, cert: a, key: b }', false],
  ['public: { host: agents.example.com }', false],
  ['replicas: { remote-mcp: 2 }', false],
])('whether %s is told to reach this machine only', (yaml, isTold) => {
  expect(frontNotices(distributed(yaml)).join()).toMatch(isTold ? /is reachable from this machine only/ : /^$/);
});
