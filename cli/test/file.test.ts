import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const svc = (...args: string[]) => platform.svc(...args);

beforeAll(async () => {
  expect((await svc('skill', 'create', 'echo')).code).toBe(0);
  writeFileSync(join(platform.dir(), 'forms.md'), '# Forms\n');
  writeFileSync(join(platform.dir(), 'large'), Buffer.alloc(16 * 1024 * 1024 + 1));
});

test('a file is added, listed, downloaded, replaced and removed', async () => {
  expect((await svc('file', 'list', 'echo')).stdout).toBe('echo has no files. Add one: svc file add echo FILE\n');
  const added = await svc('file', 'add', 'echo', 'forms.md');
  expect(added).toMatchObject({ code: 0, stdout: 'Added forms.md to echo: 8 bytes.\n' });
  const other = await svc('file', 'add', 'echo', 'forms.md', '--as', 'references/forms.md');
  expect(other.stdout).toBe('Added references/forms.md to echo: 8 bytes.\n');
  expect((await svc('file', 'list', 'echo')).stdout).toMatch(
    /^PATH +BYTES +SHA256\nforms\.md +8 +[0-9a-f]{12}\nreferences\/forms\.md +8 +[0-9a-f]{12}\n$/,
  );
  writeFileSync(join(platform.dir(), 'forms.md'), '# Other forms\n');
  expect((await svc('file', 'add', 'echo', 'forms.md')).code).toBe(0);
  const { files } = JSON.parse((await svc('file', 'list', 'echo', '--json')).stdout);
  expect(await (await fetch(files[0].url)).text()).toBe('# Other forms\n');
  expect((await svc('file', 'remove', 'echo', 'forms.md')).stdout).toBe('Removed forms.md from echo.\n');
  const left = JSON.parse((await svc('file', 'list', 'echo', '--json')).stdout);
  expect(left.files).toMatchObject([{ path: 'references/forms.md', sizeBytes: 8 }]);
}, 60_000);

test.each([
  [['add', 'nosuch', 'forms.md'], 'There is no skill "nosuch".'],
  [['add', 'echo', 'nosuch.md'], '"nosuch.md" cannot be read: it does not exist.'],
  [['add', 'echo', '.'], '"." cannot be read: it is a folder.'],
  [['add', 'echo', 'large'], '"large" is too large: it has 16777217 bytes.'],
  [
    ['add', 'echo', 'forms.md', '--as', '../forms.md'],
    '"../forms.md" is not a path of a file in a skill: each part must',
  ],
  [['remove', 'echo', 'nosuch.md'], 'The skill "echo" has no file "nosuch.md".'],
  [['list', 'nosuch'], 'There is no skill "nosuch".'],
])('svc file %s is refused in words', async (words, message) => {
  const { code, stderr } = await svc('file', ...words);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});
