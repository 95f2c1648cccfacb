import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasTerminal, runAtTerminal } from './run-at-terminal.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
/** A folder outside of the installation. */
const folder = mkdtempSync(join(tmpdir(), 'svc-skills-'));
afterAll(() => rmSync(folder, { recursive: true }));
const svc = (line: string, ...more: string[]) =>
  runSvc(['--dir', platform.dir(), ...line.split(' '), ...more], { cwd: folder });
const json = async (line: string) => JSON.parse((await svc(`${line} --json`)).stdout);

const instructions = '\n# Fill\n\n---\n\nIt is “done”.\r\n\n';
const bytes = Buffer.from(Array.from({ length: 4096 }, (_, at) => at % 256));

beforeAll(async () => {
  expect(await svc('server add demo --', process.execPath, demo)).toMatchObject({ code: 0 });
  mkdirSync(join(folder, 'pdf/scripts'), { recursive: true });
  const text = `---\nname: pdf\ndescription: "Fill: forms"\nlicense: MIT\nallowed-tools: Read demo/add gone/tool\n---\n\n${instructions}\n`;
  writeFileSync(join(folder, 'pdf/SKILL.md'), text);
  writeFileSync(join(folder, 'pdf/scripts/fill.bin'), bytes);
  writeFileSync(join(folder, 'pdf/.hidden'), 'x');
  symlinkSync('/etc/passwd', join(folder, 'pdf/passwd'));
});

/** What a skill is, without what differs from workspace to workspace. */
async function contentOf(workspace: string) {
  const { description, instructions: text, tools, patterns } = await json(`skill show pdf --workspace ${workspace}`);
  const { files } = await json(`file list pdf --workspace ${workspace}`);
  const heads = files.map(({ path, digest }: { path: string; digest: string }) => [path, digest]);
  const refs = tools.map((tool: { mcpServer: string; tool: string }) => `${tool.mcpServer}/${tool.tool}`);
  return { description, text, refs, patterns, heads };
}

test('a folder becomes a skill, says what it leaves out, and changes nothing the second time', async () => {
  const planned = await svc('skill import pdf --dry-run');
  expect(planned).toMatchObject({ code: 0, stdout: '+ skill pdf\n1 would change.\n' });
  const first = await svc('skill import pdf --tool demo/e*');
  expect(first).toMatchObject({ code: 0, stdout: '+ skill pdf\n1 changed.\n' });
  for (const place of ['SKILL.md: license', 'allowed-tools: Read', '.hidden', 'passwd', 'gone/tool']) {
    expect(first.stderr).toContain(
      `Left out: pdf/${place.includes('/') ? `SKILL.md: allowed-tools: ${place}` : place.replace('allowed', 'SKILL.md: allowed')}`,
    );
  }
  expect(first.stderr).toContain('svc skill publish pdf');
  expect(await contentOf('Default')).toMatchObject({
    ...{ description: 'Fill: forms', text: instructions, refs: ['demo/add', 'demo/echo'], patterns: ['demo/e*'] },
    heads: [['scripts/fill.bin', expect.stringMatching(/^[0-9a-f]{64}$/)]],
  });
  const again = await svc('skill import pdf/SKILL.md --tool demo/e*');
  expect(again).toMatchObject({ code: 0, stdout: 'Nothing changes: 1 is unchanged.\n' });
});

test('a written skill is read back in another workspace, byte for byte', async () => {
  expect(await svc('skill export pdf out/pdf')).toMatchObject({ code: 0, stdout: 'Wrote "out/pdf": 2 added.\n' });
  expect(readdirSync(join(folder, 'out/pdf'), { recursive: true }).sort()).toEqual([
    'SKILL.md',
    'scripts',
    'scripts/fill.bin',
  ]);
  expect(readFileSync(join(folder, 'out/pdf/scripts/fill.bin'))).toEqual(bytes);
  expect((await svc('skill export pdf out/pdf')).stdout).toBe(
    'Nothing to change: "out/pdf" holds the skill as it is.\n',
  );
  expect(await svc('workspace create Other')).toMatchObject({ code: 0 });
  expect(await svc('server add demo --workspace Other --', process.execPath, demo)).toMatchObject({ code: 0 });
  expect(await svc('skill import out/pdf --workspace Other')).toMatchObject({ code: 0 });
  expect(await contentOf('Other')).toEqual(await contentOf('Default'));
});

describe('a skill that exists', () => {
  beforeAll(async () => {
    mkdirSync(join(folder, 'changed/new'), { recursive: true });
    writeFileSync(join(folder, 'changed/SKILL.md'), '---\nname: pdf\ndescription: Other\n---\nShort\n');
    writeFileSync(join(folder, 'changed/new/a.md'), 'A');
  });

  test('is not changed without a yes, and then is equal to its folder', async () => {
    const refused = await json('skill import changed');
    expect(refused.error).toMatchObject({
      code: 'conflict',
      message: 'The skill "pdf" exists and differs: description, instructions, files. Nothing was changed.',
      hint: expect.stringContaining('add --replace'),
    });
    expect((await svc('skill import changed')).code).toBe(5);
    expect(await contentOf('Default')).toEqual(await contentOf('Other'));
    const { changes } = await json('skill import changed --replace');
    expect(changes).toMatchObject([{ kind: 'skill', name: 'pdf', action: 'update' }]);
    expect(await contentOf('Default')).toMatchObject({
      ...{ description: 'Other', text: 'Short', refs: ['demo/add', 'demo/echo'] },
      heads: [['new/a.md', expect.any(String)]],
    });
  });

  test.skipIf(!hasTerminal)('is changed at a terminal after a yes to the shown differences', async () => {
    const args = ['skill', 'import', 'pdf', '--dir', platform.dir()];
    const at = 'Make it equal to its folder?';
    const run = (type: string) => runAtTerminal(args, { cwd: folder, env: { HOME: folder }, answers: [{ at, type }] });
    const declined = await run('\r');
    expect([declined.code, declined.seen]).toEqual([130, expect.stringContaining('- new/a.md (1 bytes')]);
    expect(await contentOf('Default')).toMatchObject({ text: 'Short' });
    expect((await run('y\r')).code).toBe(0);
    expect(await contentOf('Default')).toMatchObject({ text: instructions });
  });

  test('is not written over a folder without a yes', async () => {
    const refused = await svc('skill export pdf changed');
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('"changed/SKILL.md" is replaced'),
    });
    expect(refused.stderr).toContain('"changed/new/a.md" is removed');
    const done = await json('skill export pdf changed --yes');
    expect(done).toMatchObject({ added: ['scripts/fill.bin'], replaced: ['SKILL.md'], removed: ['new/a.md'] });
    expect(await svc('skill import changed')).toMatchObject({ code: 0, stdout: 'Nothing changes: 1 is unchanged.\n' });
  });
});

test('svc apply reads the same folder, with its files', async () => {
  writeFileSync(join(folder, 'platform.yaml'), 'skills:\n  - { name: applied, from: ./out/pdf }\n');
  const first = await svc('apply platform.yaml');
  expect(first).toMatchObject({ code: 0, stdout: '+ skill applied\n1 changed.\n' });
  expect((await json('file list applied')).files).toMatchObject([{ path: 'scripts/fill.bin', sizeBytes: 4096 }]);
  writeFileSync(join(folder, 'out/pdf/scripts/fill.bin'), 'other');
  expect((await svc('apply platform.yaml')).stdout).toContain('    files:\n      + scripts/fill.bin (5 bytes, ');
  expect((await svc('apply platform.yaml')).stdout).toBe('Nothing changes: 1 is unchanged.\n');
});

test.each<readonly [line: string, code: number, message: string]>([
  ['skill import', 2, 'Name at least one folder.'],
  ['skill import nowhere', 2, '"nowhere" holds no SKILL.md'],
  ['skill import out', 2, 'svc skill import out/pdf'],
  ['skill import pdf out/pdf', 2, 'The skill "pdf" is defined already'],
  ['skill import pdf --tool nothing/x', 2, 'which is not an MCP server here'],
  ['skill import pdf --tool demo/nothing --replace', 1, 'offers no tool "nothing"'],
  ['skill export pd', 1, 'Did you mean "pdf"?'],
  ['skill export pdf .', 5, 'it is not the folder of a skill'],
])('svc %s is refused in words', async (line, code, message) => {
  const refused = await svc(line);
  expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(message)]);
});

test('a skill is published, and becomes a draft again', async () => {
  const state = async () => (await json('skill list')).skills.find(({ name }: { name: string }) => name === 'pdf');
  expect(await state()).toMatchObject({ published: false, roles: [] });
  expect((await svc('skill list')).stdout).toMatch(/^pdf +available +\d +demo +none \(draft\)$/m);
  const published = await svc('skill publish pdf');
  expect(published).toMatchObject({ code: 0, stdout: 'Published skill pdf in Everyone.\n' });
  expect((await svc('skill publish pdf')).stdout).toBe('Nothing to change: the skill pdf is in Everyone.\n');
  expect(await svc('role create Reader')).toMatchObject({ code: 0 });
  expect(await json('skill publish pdf --role Reader')).toMatchObject({
    ...{ name: 'pdf', published: true, roles: expect.arrayContaining(['Everyone', 'Reader']), changed: ['Reader'] },
  });
  expect((await svc('skill publish pdf --role Raeder')).stderr).toContain('Did you mean "Reader"?');
  expect((await svc('skill publish pdf --draft')).stderr).toContain('- The role "Reader" loses it.');
  expect(await state()).toMatchObject({ published: true });
  expect(await json('skill publish pdf --draft --yes')).toMatchObject({ published: false, roles: [] });
  expect(await state()).toMatchObject({ published: false });
  expect((await svc('skill publish pdf --draft')).stdout).toBe('Nothing to change: the skill pdf is in no role.\n');
});
