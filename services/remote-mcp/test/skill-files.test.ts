import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RoleId, SkillId } from '../../contracts/ids.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, rpc, send } from './raw.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let forms: SkillId;
let roles: { clerk: RoleId; boss: RoleId };
let key: string;
let session: string;

/** Characters of four bytes, so that parts end within one. */
const long = `a${'𝒳'.repeat(50_000)}`;
const binary = randomBytes(300_000);
binary[0] = 0;
const image = Buffer.from('89504e470d0a1a0a0000', 'hex');

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  forms = await workspace.skill('forms', [], { instructions: 'Read references/forms.md.' });
  const secret = await workspace.skill('secret', []);
  roles = { clerk: await workspace.role('Clerk', [forms]), boss: await workspace.role('Boss', [secret]) };
  await workspace.file(forms, 'references/forms.md', '# Forms\n');
  await workspace.file(forms, 'long.txt', long);
  await workspace.file(forms, 'data.bin', binary);
  await workspace.file(forms, 'logo.png', image);
  await workspace.file(forms, 'empty', '');
  await workspace.file(forms, 'huge.bin', Buffer.alloc(2 * 1024 * 1024 + 1));
  await workspace.file(secret, 'references/forms.md', 'for bosses');
  key = (await workspace.key('agent', { roles: [roles.clerk] })).text;
  session = await openSession(platform.mcpUrl, key);
  await until(async () => (await textOf('load_skill', { skill: 'forms' })).includes('huge.bin'));
});
afterAll(() => platform.stop());

interface Content {
  readonly type: string;
  readonly text: string;
}

async function call(name: string, args: object, as = { key, session }) {
  const { body } = await send(platform.mcpUrl, { ...as, body: rpc('tools/call', { name, arguments: args }) });
  return body.result;
}

const read = (args: object, as = { key, session }) => call('read_skill_file', { skill: 'forms', ...args }, as);

async function textOf(name: string, args: object): Promise<string> {
  const { content } = await call(name, args);
  return content.map(({ text }: Content) => text).join('\n');
}

test('load_skill lists the files of a skill', async () => {
  const text = await textOf('load_skill', { skill: 'forms' });
  expect(text).toContain('Read references/forms.md.');
  expect(text).toContain('Files of this skill, to be read with read_skill_file:');
  expect(text).toContain('- "references/forms.md" (8 bytes)');
});

test('a text is given unchanged', async () => {
  const content = [{ type: 'text', text: '# Forms\n' }];
  expect(await read({ path: 'references/forms.md' })).toEqual({ content });
  expect(await read({ path: 'references/forms.md', offset: 2 })).toEqual({
    content: [{ type: 'text', text: 'Forms\n' }],
  });
  expect(await read({ path: 'references/forms.md', offset: 8 })).toEqual({ content: [{ type: 'text', text: '' }] });
  expect(await read({ path: 'empty' })).toEqual({ content: [{ type: 'text', text: '' }] });
});

test('a long text is split into parts of whole characters', async () => {
  let [got, offset, parts] = ['', 0, 0];
  for (; ; parts++) {
    const { content } = await read({ path: 'long.txt', offset });
    got += content[0].text;
    const [, next] = /go on with "offset": (\d+)/.exec(content[1]?.text ?? '') ?? [];
    if (next === undefined) break;
    offset = Number(next);
  }
  expect(got === long).toBe(true);
  expect(parts).toBe(1);
});

test('other content is returned as a whole: an image as an image, the rest as a resource', async () => {
  const { content } = await read({ path: 'data.bin' });
  expect(content[1].resource).toMatchObject({ uri: 'skill://forms/data.bin', mimeType: 'application/octet-stream' });
  expect(Buffer.from(content[1].resource.blob, 'base64').equals(binary)).toBe(true);
  expect((await read({ path: 'logo.png' })).content[1]).toEqual({
    ...{ type: 'image', mimeType: 'image/png', data: image.toString('base64') },
  });
});

test.each<[string, object, RegExp]>([
  ['a path that it has not', { path: 'references/other.md' }, /no file "references\/other.md". load_skill lists/],
  ['a path that leads elsewhere', { path: '../secret/references/forms.md' }, /has no file/],
  ['no path', {}, /Give the name of a skill and the path/],
  ['a malformed path', { path: 7 }, /Give the name of a skill and the path/],
  ['a missing skill', { skill: 'nothing', path: 'a' }, /no skill "nothing" for this key/],
  ['a skill of a role that the key has not', { skill: 'secret', path: 'references/forms.md' }, /no skill "secret" for/],
  ['an offset beyond its end', { path: 'empty', offset: 1 }, /from 0 to 0/],
  ['an offset that is not a number', { path: 'empty', offset: '0' }, /whole number/],
  ['half a byte', { path: 'long.txt', offset: 0.5 }, /whole number/],
  ['a part of a file that is not text', { path: 'data.bin', offset: 1 }, /as a whole only/],
  ['what is too much to give as a whole', { path: 'huge.bin' }, /as a whole only, up to 2097152 bytes/],
])('%s is refused in words', async (_, args, message) => {
  const { isError, content } = await read(args);
  expect([isError, content[0].text]).toEqual([true, expect.stringMatching(message)]);
});

test('an inactive role gives no files', async () => {
  const other = await openSession(platform.mcpUrl, key);
  await call('deactivate_role', { role: 'Clerk' }, { key, session: other });
  const { isError, content } = await read({ path: 'references/forms.md' }, { key, session: other });
  expect([isError, content[0].text]).toEqual([true, expect.stringMatching(/Activate one with activate_role: "Clerk"/)]);
});

test('another workspace has its own, under the same names and with the same bytes', async () => {
  const rival = await TestWorkspace.create(platform, 'rival');
  const own = await rival.skill('forms', []);
  const role = await rival.role('Clerk', [own]);
  await rival.file(own, 'logo.png', image);
  const other = (await rival.key('agent', { roles: [role] })).text;
  const as = { key: other, session: await openSession(platform.mcpUrl, other) };
  await until(async () => (await read({ path: 'logo.png' }, as)).isError !== true);
  for (const skill of ['forms', forms]) {
    const { isError } = await read({ skill, path: 'references/forms.md' }, as);
    expect(isError).toBe(true);
  }
  await rival.removeFile(own, 'logo.png');
  expect((await read({ path: 'logo.png' })).isError).toBeUndefined();
});

test('a read during a change gets the old text, the new text or a clear refusal', async () => {
  await workspace.file(forms, 'moving.md', 'one');
  await until(async () => (await read({ path: 'moving.md' })).content[0].text === 'one');
  await workspace.file(forms, 'moving.md', 'another');
  await until(async () => {
    const { content } = await read({ path: 'moving.md' });
    expect(content[0].text).toMatch(/^one$|^another$|has just been changed or removed/);
    return content[0].text === 'another';
  });
  await workspace.removeFile(forms, 'moving.md');
  await until(async () => /has no file/.test((await read({ path: 'moving.md' })).content[0].text));
});
