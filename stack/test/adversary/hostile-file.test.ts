import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type RunOptions, svcFile } from '../../../cli/test/run-svc.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** An operator applies files of an attacker. `svc` reads them before it calls a backend, so one topology is enough. */
let platform: Platform;
/** The folder of the attacker's files. */
let folder = '';
/** A folder outside `folder`, whose content must not be read. */
let outside = '';

beforeAll(async () => {
  platform = await Platform.start();
  folder = join(platform.folder, 'came');
  outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
  const folders = ['.', 'skills', 'linked', 'endless', 'waiting', 'huge', 'thief'];
  for (const dir of folders) mkdirSync(join(folder, dir));
  writeFileSync(join(outside, 'id_ed25519'), 'PRIVATE-OUTSIDE\n');
  writeFileSync(join(outside, 'SKILL.md'), '---\nname: outside\n---\nPRIVATE-OUTSIDE\n');
  const { secretsDir, dir } = platform.installation;
  writeFileSync(join(folder, 'skills/good.md'), '# Good\n');
  symlinkSync(secret(), join(folder, 'key.md'));
  symlinkSync(join(outside, 'id_ed25519'), join(folder, 'ssh.md'));
  symlinkSync(outside, join(folder, 'folder'));
  symlinkSync(secretsDir, join(folder, 'secrets'));
  symlinkSync(join(outside, 'SKILL.md'), join(folder, 'linked/SKILL.md'));
  symlinkSync('/dev/zero', join(folder, 'zero.md'));
  symlinkSync('skills/good.md', join(folder, 'good-link.md'));
  symlinkSync('loop.md', join(folder, 'loop.md'));
  spawnSync('mkfifo', [join(folder, 'fifo.md'), join(folder, 'fifo.yaml')]);
  writeFileSync(join(folder, 'huge.md'), '');
  truncateSync(join(folder, 'huge.md'), 5 * 1024 ** 3);
  symlinkSync('huge.md', join(folder, 'huge.yaml'));
  symlinkSync('/dev/zero', join(folder, 'endless/SKILL.md'));
  spawnSync('mkfifo', [join(folder, 'waiting/SKILL.md')]);
  writeFileSync(join(folder, 'huge/SKILL.md'), '');
  truncateSync(join(folder, 'huge/SKILL.md'), 5 * 1024 ** 3);
  writeFileSync(join(folder, 'thief/SKILL.md'), '---\nname: thief\n---\n');
  symlinkSync(secret(), join(folder, 'thief/key'));
  symlinkSync(outside, join(folder, 'thief/outside'));
  writeFileSync(join(folder, 'long.yaml'), `# ${'x'.repeat(98)}\n`.repeat(1024 * 1024));
  writeFileSync(join(dir, 'notes.md'), 'PRIVATE-NOTES\n');
}, startTimeoutMs);
afterAll(async () => {
  rmSync(outside, { recursive: true, force: true });
  await platform?.[Symbol.asyncDispose]();
}, startTimeoutMs);

/** Far below the limit of a test: a command that hangs is killed, and has no exit code. */
const patienceMs = 15_000;

async function refuses(words: readonly string[], rule: string, options: Partial<RunOptions> = {}): Promise<string> {
  const { code, stdout, stderr } = await platform.run(words, { cwd: folder, timeoutMs: patienceMs, ...options });
  expect({ code, stdout, stderr }).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(rule) });
  return stderr;
}

async function refusesYaml(yaml: string, rule: string): Promise<string> {
  writeFileSync(join(folder, 'platform.yaml'), yaml);
  return await refuses(['apply', 'platform.yaml'], rule);
}

const secret = () => join(platform.installation.secretsDir, 'encryption.key');
const named = (path: string) => `skills:\n  - { name: stolen, instructions: ${JSON.stringify(path)} }\n`;

const envFile = (path: string) => `mcpServers:\n  thief: { command: cat, envFile: ${path} }\n`;

describe('a file that the YAML names is refused', () => {
  test.each([
    ['the key of the installation', () => named(secret()), 'beside'],
    ['the key, by a way up', () => named('../svc/secrets/encryption.key'), 'beside'],
    ['a link to the key', () => named('key.md'), 'beside'],
    ['a file behind a link to the secrets', () => named('secrets/encryption.key'), 'beside'],
    ['a link to a file of the operator', () => named('ssh.md'), 'beside'],
    ['a file behind a link to a folder', () => named('folder/id_ed25519'), 'beside'],
    ['a system file', () => named('/etc/passwd'), 'beside'],
    ['a link to a SKILL.md elsewhere', () => 'skills:\n  - { from: linked }\n', 'beside'],
    ['a folder of a skill elsewhere', () => 'skills:\n  - { from: folder }\n', 'beside'],
    ['an env file elsewhere', () => envFile(join(outside, 'id_ed25519')), 'beside'],
    ['a FIFO', () => named('fifo.md'), 'regular file'],
    ['an endless device', () => named('/dev/zero'), 'beside'],
    ['a link to an endless device', () => named('zero.md'), 'beside'],
    ['standard input', () => named('/dev/stdin'), ''],
    ['a folder', () => named('skills'), 'a folder'],
    ['a link to itself', () => named('loop.md'), 'circle'],
    ['a file of 5 GB', () => named('huge.md'), '262144 bytes'],
  ])('%s', async (_, yaml, rule) => {
    expect(await refusesYaml(yaml(), rule)).toMatch(/platform\.yaml:\d+:\d+ /);
  });
});

test.each([
  ['apply fifo.yaml', 'regular file'],
  ['apply /dev/zero', 'regular file'],
  ['apply huge.yaml', '16777216 bytes'],
  ['apply long.yaml', '16777216 bytes'],
  ['file add works fifo.md --as a.md', 'regular file'],
  ['file add works /dev/zero --as a.md', 'regular file'],
  ['file add works huge.md --as a.md', 'too large'],
  ['file add works SECRET --as a.md', 'is a secret of'],
  ['file add works key.md --as a.md', 'is a secret of'],
  ['skill import linked', 'is outside of'],
  ['skill import endless', 'is outside of'],
  ['skill import waiting', 'regular file'],
  ['skill import huge', 'is longer than'],
  ['skill create stolen --instructions /dev/zero', '262144 bytes'],
  ['skill create stolen --instructions huge.md', '262144 bytes'],
  ['skill create stolen --instructions key.md', 'is a secret of'],
  ['server add x --variable-file /dev/zero -- cat', '1048576 bytes'],
  ['keys test --key-file /dev/zero', '4096 bytes'],
])('a file that the operator names is refused: svc %s', async (typed, rule) => {
  await refuses(typed.replace('SECRET', secret()).split(' '), rule);
});

describe('YAML is refused with', () => {
  test.each([
    ['aliases that grow', bomb(), 'aliases'],
    ['a long name above many values', `{ ${'x'.repeat(500_000)}: [${'1,'.repeat(20_000)}1] }\n`, ':1:3 "xxx'],
    ['an alias of itself', 'skills: &a [*a]\n', ''],
    ['names without number', times(50_000, (at) => `name${at}: 1\n`), 'is not a field'],
    [
      'MCP servers without number',
      `mcpServers:\n${times(30_000, (at) => `  s${at}: {}\n`)}`,
      'must have a command or a url',
    ],
    ['mistakes without number', 'a: ]\n'.repeat(20_000), 'more mistakes'],
    ['lists in lists', '['.repeat(100_000), 'deep'],
    ['lists in lists, closed', `skills: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, 'deep'],
    ['fields in fields', times(2000, (depth) => `${' '.repeat(depth)}a:\n`), 'deep'],
    ['lists in lines', `skills: ${'- '.repeat(50_000)}x\n`, ''],
    ['a mistake in each of a million lines', '{\n'.repeat(1_000_000), ''],
  ])('%s', async (_, yaml, rule) => {
    const begun = performance.now();
    const stderr = await refusesYaml(yaml, rule);
    expect(stderr).not.toMatch(/internal|stack/i);
    expect(stderr.length).toBeLessThan(20_000);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});

function times(count: number, text: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => text(at)).join('');
}

function bomb(): string {
  const names = [...'abcdefghij'];
  return names
    .map((name, at) => `${name}: &${name} [${`${at === 0 ? 'x' : `*${names[at - 1]}`},`.repeat(9)}]\n`)
    .join('');
}

test('a file beside the YAML is refused where both lie in an installation', async () => {
  const { dir } = platform.installation;
  writeFileSync(join(dir, 'platform.yaml'), named('notes.md'));
  await refuses(['apply', 'platform.yaml'], 'is in the installation', { cwd: dir });
});

test('standard input without an end is refused', async () => {
  await refuses(['apply', '-'], '16777216 bytes', { stdin: '# without an end\n'.repeat(1_200_000) });
});

test('a signal ends svc at once while it reads', async () => {
  const child = spawn(process.execPath, [svcFile, 'apply', '-', '--dir', platform.installation.dir], { stdio: 'pipe' });
  // More than a pipe can hold: when all is written, svc has begun to read.
  await new Promise((resolve) => child.stdin.write('# without an end\n'.repeat(20_000), resolve));
  const begun = performance.now();
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(performance.now() - begun).toBeLessThan(1000);
});

test('files beside the YAML are read, behind a link too that stays there', async () => {
  const yaml = `skills:
  - { name: works, instructions: skills/good.md }
  - { name: linked, instructions: ./good-link.md }
`;
  writeFileSync(join(folder, 'platform.yaml'), yaml);
  expect((await platform.run(['apply', 'platform.yaml'], { cwd: folder, timeoutMs: patienceMs })).code).toBe(0);
});

test('links in the folder of a skill are left out', async () => {
  const { code, stdout } = await platform.run(['skill', 'import', 'thief', '--json'], { cwd: folder });
  expect([code, JSON.parse(stdout).leftOut]).toEqual([
    0,
    [
      { place: 'thief/key', why: 'it is a link' },
      { place: 'thief/outside', why: 'it is a link' },
    ],
  ]);
  const files = await platform.run(['file', 'list', 'thief', '--json']);
  expect(JSON.parse(files.stdout).files).toEqual([]);
});

test('members and agents can read nothing of a refused file', async () => {
  const query = { text: '{ workspace(name: "Default") { skills { nodes { name instructions } } } }' };
  const skills = z.object({ nodes: z.array(z.record(z.string(), z.string())) });
  const found = z.object({ workspace: z.object({ skills }) });
  const { workspace } = found.parse(await (await platform.backend()).send(query, {}));
  const text = JSON.stringify(workspace);
  expect(text).not.toContain('PRIVATE');
  expect(text).not.toContain(readFileSync(secret(), 'utf8').trim());
  expect(workspace.skills.nodes.map(({ name }) => name).sort()).toEqual(['linked', 'thief', 'works']);
});
