import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { readSkillFolder } from './skill-folder.ts';
import { planFolder, type WholeSkill, writeFolder } from './write-folder.ts';

const dir = folderOfEachTest();

function write(path: string, content: string | Uint8Array = ''): void {
  mkdirSync(dirname(join(dir(), path)), { recursive: true });
  writeFileSync(join(dir(), path), content);
}

const skillText = '---\nname: pdf\ndescription: Fill forms\n---\n\nFill it.\n';
const read = () => readSkillFolder(dir(), 'pdf');

describe('the folder of a skill', () => {
  test('is read with its files in order; hidden ones, links and pipes are left out and named', () => {
    write('pdf/SKILL.md', skillText);
    write('pdf/scripts/fill.py', 'print()');
    write('pdf/references/forms.md', 'Forms');
    write('pdf/references/.DS_Store');
    write('pdf/.git/config');
    write('secret.txt', 'PRIVATE');
    symlinkSync('../../secret.txt', join(dir(), 'pdf/references/linked.md'));
    symlinkSync('..', join(dir(), 'pdf/around'));
    execFileSync('mkfifo', [join(dir(), 'pdf/pipe')]);
    const { files, leftOut, ...text } = read();
    expect(text).toMatchObject({ name: 'pdf', description: 'Fill forms', instructions: 'Fill it.', tools: undefined });
    expect(files.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
      ['references/forms.md', 5],
      ['scripts/fill.py', 7],
    ]);
    expect(files.map((file) => Buffer.from(file.read()).toString())).toEqual(['Forms', 'print()']);
    expect(leftOut).toEqual([
      { place: 'pdf/.git', why: 'it is hidden' },
      { place: 'pdf/around', why: 'it is a link' },
      { place: 'pdf/pipe', why: 'it is no regular file' },
      { place: 'pdf/references/.DS_Store', why: 'it is hidden' },
      { place: 'pdf/references/linked.md', why: 'it is a link' },
    ]);
  });

  test.each<readonly [what: string, make: () => void, message: string]>([
    ['more files than a skill may have', () => times(513, (at) => write(`pdf/f${at}`)), 'more than 512 files'],
    ['entries without number', () => times(20_001, (at) => write(`pdf/.f${at}`)), 'more than 512 files'],
    ['a file that is too large', () => grow('pdf/a', 16 * 1024 ** 2 + 1), 'is longer than 16777216 bytes'],
    ['files that are too large together', () => times(2, (at) => grow(`pdf/f${at}`, 9 * 1024 ** 2)), '16 MiB'],
    ['a name that hides characters', () => write('pdf/a\u202eb'), 'it holds invisible characters'],
    ['a second SKILL.md', () => write('pdf/skill.md'), 'SKILL.md is the skill itself'],
    ['a path that is too long', () => write(`pdf/${'d/'.repeat(130)}f`), 'it is longer than 255 bytes'],
  ])('is refused with %s', (_, make, message) => {
    write('pdf/SKILL.md', skillText);
    make();
    expect(read).toThrow(message);
  });

  test('is refused when a file leaves it between two readings', () => {
    write('pdf/SKILL.md', skillText);
    write('pdf/a.md', 'A');
    write('secret.txt', 'PRIVATE');
    const { files } = readSkillFolder(join(dir(), 'pdf'), '.');
    rmSync(join(dir(), 'pdf/a.md'));
    symlinkSync('../secret.txt', join(dir(), 'pdf/a.md'));
    expect(() => files[0]?.read()).toThrow('is outside of');
  });
});

function times(count: number, work: (at: number) => void): void {
  for (let at = 0; at < count; at++) work(at);
}

function grow(path: string, sizeBytes: number): void {
  write(path);
  truncateSync(join(dir(), path), sizeBytes);
}

describe('a skill is written to a folder', () => {
  const content = new Map([
    ['data.bin', new Uint8Array([0, 255, 10, 13])],
    ['scripts/fill.py', new TextEncoder().encode('print()\r\n')],
  ]);
  /** The skill of a folder that has these files. */
  const skillOf = (files: ReadonlyMap<string, Uint8Array>): WholeSkill => {
    for (const [path, bytes] of files) write(join('source', path), bytes);
    write('source/SKILL.md', skillText);
    return readSkillFolder(dir(), 'source');
  };
  const bytesOf = async (path: string) => content.get(path) ?? new Uint8Array();
  const target = () => join(dir(), 'target');

  test('and is read back the same; again, nothing changes', async () => {
    const skill = skillOf(content);
    const changes = planFolder(target(), skill);
    expect(changes).toEqual({ added: ['SKILL.md', 'data.bin', 'scripts/fill.py'], replaced: [], removed: [] });
    await writeFolder(target(), skill, { changes, bytesOf });
    expect(new Uint8Array(readFileSync(join(target(), 'data.bin')))).toEqual(content.get('data.bin'));
    const { name, description, instructions, tools } = readSkillFolder(target(), '.');
    expect({ name, description, instructions, tools }).toEqual({
      ...{ name: skill.name, description: skill.description },
      ...{ instructions: skill.instructions, tools: skill.tools },
    });
    expect(planFolder(target(), skill)).toEqual({ added: [], replaced: [], removed: [] });
  });

  test('that has one: changes are listed, and only those are made', async () => {
    const skill = skillOf(content);
    write('target/SKILL.md', '---\nname: other\n---\n');
    write('target/data.bin', 'old');
    write('target/old.md');
    write('target/.git/config', 'kept');
    const changes = planFolder(target(), skill);
    expect(changes).toEqual({ added: ['scripts/fill.py'], replaced: ['SKILL.md', 'data.bin'], removed: ['old.md'] });
    await writeFolder(target(), skill, { changes, bytesOf });
    expect(planFolder(target(), skill)).toEqual({ added: [], replaced: [], removed: [] });
    expect(readFileSync(join(target(), '.git/config'), 'utf8')).toBe('kept');
  });

  test.each<readonly [what: string, make: () => void, message: string]>([
    ['with foreign files', () => write('target/notes.md'), 'it is not the folder of a skill'],
    ['that is a file', () => write('target'), 'target" is no folder.'],
    ['with a link in the way', () => link('target/scripts'), 'target/scripts" is a link'],
    ['with a link for a file', () => link('target/data.bin'), 'target/data.bin" is a link'],
    ['with a link for SKILL.md', () => link('target/SKILL.md'), 'target/SKILL.md" is a link'],
    ['with a file for a folder', () => write('target/scripts'), 'target/scripts" is no folder'],
    ['with a folder for a file', () => write('target/data.bin/x'), 'target/data.bin" is no file'],
    ['in an installation', installation, 'is in the installation'],
  ])('but not to one %s', (_, make, message) => {
    const skill = skillOf(content);
    make();
    expect(() => planFolder(target(), skill)).toThrow(message);
  });

  function link(path: string): void {
    mkdirSync(join(dir(), 'target'), { recursive: true });
    mkdirSync(join(dir(), 'elsewhere'));
    symlinkSync('../elsewhere', join(dir(), path));
  }

  function installation(): void {
    write('svc.yaml', '# svc\n');
    write('secrets/encryption.key', 'x');
  }

  test.each(['../out.md', '/etc/out.md', 'a/../../out.md', 'a\\..\\out.md'])(
    'nor under a path that leaves it: %s',
    (path) => {
      const file = { path, digest: '0'.repeat(64), sizeBytes: 1 };
      expect(() => planFolder(target(), { ...skillOf(new Map()), files: [file] })).toThrow('is not a path of a file');
    },
  );

  test('and other bytes than the skill has are found out', async () => {
    const skill = skillOf(content);
    const changes = planFolder(target(), skill);
    const others = async () => new Uint8Array([1]);
    await expect(writeFolder(target(), skill, { changes, bytesOf: others })).rejects.toThrow('is not what was written');
  });
});
