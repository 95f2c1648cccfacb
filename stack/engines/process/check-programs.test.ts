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

describe.skipIf(!arePrivileged)("the ports of the front that are root's", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-front-ports-'));
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'caddy'), '', { mode: 0o755 });
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** Checks the ports with a getcap that prints these capabilities of Caddy. */
  const check = (capabilities: string) => {
    writeFileSync(join(dir, 'getcap'), `#!/bin/sh\necho "$1 ${capabilities}"\n`, { mode: 0o755 });
    const ports = { ...usualPorts, 'caddy-https': 20_443, 'caddy-http': 81 };
    return asPerson(() => checkFrontPorts(open, ports, dir));
  };

  test('are refused to others, with their place and with how to get them', async () => {
    await expect(check('cap_net_raw=ep')).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Port 81 (public.httpPort in svc.yaml) is privileged: this user may not listen on it.',
      hint: expect.stringContaining(`sudo setcap cap_net_bind_service=+ep "${dir}/caddy"`),
    });
  });

  test.each(['=ep', '+ep', '=eip'])('are left to a Caddy that was given the right (%s)', async (how) => {
    await expect(check(`cap_net_bind_service${how}`)).resolves.toBeUndefined();
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
