import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSvc } from './run-svc.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-init-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const svc = (...args: string[]) => runSvc(args, { cwd });

test('it names the installation in the next command if svc would not find it', async () => {
  expect((await svc('init', '--yes')).stderr).toMatch(/^Next: svc up$/m);
  expect((await svc('init', 'other', '--yes')).stderr).toMatch(/^Next: svc up --dir other$/m);
  const fromNpm = await runSvc(['init', '--yes'], { cwd, env: { npm_command: 'exec' } });
  expect(fromNpm.stderr).toMatch(/^Next: npx svc up$/m);
});

test("an owner that is not an e-mail address is refused in the person's words", async () => {
  const { code, stderr } = await svc('init', '--owner-email', 'nomail');
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^Error: The owner must be given by an e-mail address, not "nomail"\.\nSuch as: svc init --owner-email/,
  );
});

test('another owner for an existing installation is ignored, with a notice', async () => {
  await svc('init', '--yes', '--owner-email', 'a@example.com');
  expect((await svc('init', '--yes', '--owner-email', 'a@example.com')).stderr).not.toContain('owner');
  const { code, stderr } = await svc('init', '--yes', '--owner-email', 'b@example.com');
  expect(stderr).toContain('! The owner stays a@example.com, because svc.yaml exists already');
  expect(code).toBe(0);
});

test('a file in the way and an unwritable folder are named', async () => {
  writeFileSync(join(cwd, 'svc'), '');
  const inTheWay = await svc('init', '--yes');
  expect([inTheWay.code, inTheWay.stderr]).toEqual([
    2,
    expect.stringContaining('svc" is a file, and a folder is needed there.\nMove'),
  ]);
  const nowhere = await svc('init', '/proc/svc-test', '--yes');
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('Cannot create a folder in "/proc".')]);
});

test('svc config check refuses an address that this machine does not have', async () => {
  await svc('init', '--yes');
  const file = join(cwd, 'svc/svc.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('bind: 127.0.0.1', 'bind: hello.invalid'));
  const { code, stderr } = await svc('config', 'check');
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/svc\.yaml:\d+:7 bind must be an address of this machine, not "hello\.invalid"/),
  ]);
});

test('help offers no graph and no engine that would be refused', async () => {
  const { stdout } = await svc('init', '--help');
  for (const flag of ['--topology', '--graph', '--engine']) expect(stdout).toContain(flag);
});

test('containers select separate parts without a question', async () => {
  const { stdout } = await svc('init', '--yes', '--engine', 'docker', '--json');
  expect(JSON.parse(stdout).steps).toContainEqual({ path: 'secrets/bus-callout.seed', outcome: 'created' });
  expect(readFileSync(join(cwd, 'svc/svc.yaml'), 'utf8')).toMatch(/^topology: distributed\n[\s\S]*^engine: docker$/m);
  const { code, stderr } = await svc('init', join(cwd, 'other'), '--topology', 'embedded', '--engine', 'docker');
  expect([code, stderr]).toEqual([2, expect.stringContaining('engine: docker needs topology: distributed.')]);
});

describe('the way it runs', () => {
  const wanted = ['--topology', 'distributed', '--graph', 'sqlite', '--engine', 'process'];

  test('is stored with the secrets that it needs', async () => {
    const { code } = await svc('init', '--yes', ...wanted);
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, 'svc/svc.yaml'), 'utf8')).toMatch(/^topology: distributed$/m);
    const seeds = readdirSync(join(cwd, 'svc/secrets')).filter((name) => name.endsWith('.seed'));
    expect(seeds.sort()).toEqual(['bus-callout.seed', 'bus-issuer.seed', 'bus-system.seed']);
    for (const name of seeds) expect(statSync(join(cwd, 'svc/secrets', name)).mode & 0o777, name).toBe(0o600);
  });

  test('is one process without keys for NATS by default', async () => {
    await svc('init', '--yes');
    expect(readFileSync(join(cwd, 'svc/svc.yaml'), 'utf8')).toMatch(/^topology: embedded$/m);
    expect(readdirSync(join(cwd, 'svc/secrets')).filter((name) => name.endsWith('.seed'))).toEqual([]);
  });

  test('does not change by itself, with a notice', async () => {
    await svc('init', '--yes');
    expect((await svc('init', '--yes', '--topology', 'embedded')).stderr).not.toContain('stays');
    const { code, stderr } = await svc('init', '--yes', ...wanted);
    expect(stderr).toContain('! topology stays embedded, because svc.yaml exists already');
    expect(code).toBe(0);
  });
});
