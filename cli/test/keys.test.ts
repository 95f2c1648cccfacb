import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { foreignServers } from '../../stack/test/foreign-servers.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

/** A test runs up to ten commands on a busy machine. */
vi.setConfig({ testTimeout: 60_000 });

const { dir, svc } = withRunningPlatform();

/** The JSON of a command that succeeds. */
// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await svc(...args, '--json');
  expect(`${code} ${stderr}`).toMatch(/^0/);
  return JSON.parse(stdout);
}

const withKey = (key: string, ...args: string[]) => runSvc(args, { cwd: dir(), env: { SVC_API_KEY: key } });

/** Writes a file beside the installation. */
function file(name: string, text: string): string {
  const path = join(dir(), name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  await svc('server', 'add', 'everything', '--', ...foreignServers.everything);
  await json('skill', 'create', 'echo', '--tool', 'everything/echo', '--tool', 'everything/get-sum');
  await json('skill', 'create', 'reading', '--tool', 'everything/get-env');
  await json('skill', 'create', 'lonely');
  await json('role', 'create', 'Everyone', '--skill', 'echo');
  await json('role', 'create', 'Reader of all', '--skill', 'reading');
}, 120_000);

describe('svc keys create', () => {
  test('takes the name as its argument, and with --name', async () => {
    expect(await json('keys', 'create', 'argument')).toMatchObject({ name: 'argument', disclosure: 'skills' });
    expect(await json('keys', 'create', '--name', 'flag')).toMatchObject({ name: 'flag' });
    expect(await json('keys', 'create', '--role', 'Everyone', '--name=equals')).toMatchObject({ name: 'equals' });
  });

  test('says what the list of tools costs an agent, for both choices', async () => {
    const run = await svc('keys', 'create', 'costs');
    expect(run.stdout).toMatch(/^SVA_\w+\n$/);
    expect(run.stderr).toMatch(/first lists 6 tools, about [\d,]+ tokens\.\nWith --disclosure all: 9 tools, about/);
    const { toolLists } = await json('keys', 'create', 'narrow', '--role', 'Everyone', '--disclosure', 'all');
    expect(toolLists).toMatchObject({ skills: { tools: 6 }, all: { tools: 8 } });
    expect(toolLists.all.tokens).toBeGreaterThan(toolLists.skills.tokens);
  });
});

describe('svc keys update', () => {
  test('changes what is named, and says what changed', async () => {
    const { id } = await json('keys', 'create', 'changing', '--role', 'Everyone', '--expires', '30d');
    expect(await json('keys', 'update', 'changing', '--disclosure', 'all', '--role', 'Reader of all')).toEqual({
      id,
      name: 'changing',
      changed: ['roles', 'disclosure'],
    });
    expect(await json('keys', 'show', 'changing')).toMatchObject({
      disclosure: 'all',
      roles: [{ name: 'Reader of all' }],
      expiresAt: expect.any(String),
    });
    const renamed = await svc('keys', 'update', 'changing', '--name', 'changed', '--expires', 'never', '--all-roles');
    expect(renamed.stdout).toBe('Changed key changed: name, roles, expires.\n');
    expect(await json('keys', 'show', id)).toMatchObject({ name: 'changed', roles: 'all', expiresAt: null });
    const again = await svc('keys', 'update', 'changed', '--expires', 'never');
    expect(again.stdout).toBe('Nothing to change: the key changed is like that already.\n');
  });

  test('without a field names the flags', async () => {
    const run = await svc('keys', 'update', 'argument');
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('--disclosure')]);
  });
});

describe('svc keys rotate', () => {
  test('makes a key beside the old one, which ends only when nobody uses it any more', async () => {
    const first = await json('keys', 'create', 'rotated', '--role', 'Everyone', '--disclosure', 'all');
    await withKey(first.key, 'keys', 'test');
    const second = await json('keys', 'rotate', 'rotated');
    expect(second).toMatchObject({ name: 'rotated', disclosure: 'all', roles: [{ name: 'Everyone' }] });
    expect(second.replaces).toMatchObject({ id: first.id, lastUsedAt: expect.any(String) });
    for (const { key } of [first, second]) expect((await withKey(key, 'keys', 'test')).code).toBe(0);
    expect((await svc('keys', 'list')).stdout).toMatch(
      /rotated .* being replaced[\s\S]*svc keys rotate rotated --finish/,
    );

    const refused = await svc('keys', 'rotate', 'rotated', '--finish', '--json');
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/may still be in use.*last used/),
      hint: expect.stringContaining('--yes'),
    });
    expect((await withKey(first.key, 'keys', 'test')).code).toBe(0);

    const ended = await json('keys', 'rotate', 'rotated', '--finish', '--yes');
    expect(ended).toMatchObject({ id: first.id, state: 'revoked', replacedBy: { id: second.id } });
    expect((await withKey(first.key, 'keys', 'test')).code).toBe(3);
    expect((await withKey(second.key, 'keys', 'test')).code).toBe(0);
    const again = await svc('keys', 'rotate', 'rotated', '--finish');
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^Nothing to end/)]);
  });

  test('ends an old key that was never used without a question', async () => {
    const { id } = await json('keys', 'create', 'unused');
    await json('keys', 'rotate', 'unused');
    expect(await json('keys', 'rotate', id, '--finish')).toMatchObject({ id, state: 'revoked', lastUsedAt: null });
  });

  test('revoking the new key says that the old one is still valid', async () => {
    const { id } = await json('keys', 'create', 'halfway');
    await json('keys', 'rotate', 'halfway');
    const run = await svc('keys', 'revoke', 'halfway');
    expect(run.stdout).toMatch(/^Revoked halfway \(SVA_….{4}\)\. It was last used: never\.\n$/);
    expect(run.stderr).toContain(`svc keys revoke ${id}`);
    expect(await json('keys', 'rotate', 'halfway')).toMatchObject({ replaces: { id } });
  });
});

describe('svc keys import', () => {
  const older = 'USK-0123456789abcdef-0123456789';

  test('takes an older key from a file, with text around it', async () => {
    const run = await svc('keys', 'import', 'older', '--key-file', file('older.txt', `"Bearer ${older}"\n`));
    expect(run.stdout).toBe('Imported the key older (USK…6789). Agents can use it now.\n');
    expect(run.stderr).toContain('was given with quotes and "Bearer"');
    expect((await withKey(older, 'keys', 'test')).stdout).toContain('The key is valid');
    expect(run.stdout + run.stderr).not.toContain(older);
  });

  test.each([
    ['a key that is known', older, 5, /known to the platform already/],
    ['a retired key', 'WSK_0123456789abcdef0123456789', 2, /retired/],
    ['a short key', 'USK-short', 2, /fewer than 24 characters/],
    ['another text', 'hello', 2, /must start with USK/],
  ])('refuses %s', async (_what, text, code, message) => {
    const run = await runSvc(['keys', 'import', 'other'], { cwd: dir(), stdin: text });
    expect([run.code, run.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(run.stderr).not.toContain(text);
  });

  test('refuses a key as an argument', async () => {
    const run = await svc('keys', 'import', 'other', older);
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('must not be an argument')]);
  });
});

describe('svc keys explain', () => {
  test('lists what an agent can use, and why not the rest', async () => {
    const { key, id } = await json('keys', 'create', 'explained', '--role', 'Everyone');
    const explanation = await json('keys', 'explain', 'explained');
    expect(explanation).toMatchObject({
      workspace: 'Default',
      accepted: true,
      key: { id },
      roles: [
        { name: 'Everyone', skills: [{ name: 'echo', available: true, reason: null, tools: ['echo', 'get-sum'] }] },
      ],
    });
    const why = (kind: string, name: string) =>
      explanation.unusable.find((one: { kind: string; name: string }) => one.kind === kind && one.name === name);
    const give =
      "Give the role Reader of all to the key: svc keys update explained --role Everyone --role 'Reader of all'";
    expect(why('role', 'Reader of all')).toMatchObject({ why: 'The key is not for this role.', change: give });
    expect(why('skill', 'reading')).toMatchObject({ why: expect.stringContaining('Reader of all'), change: give });
    expect(why('skill', 'lonely')).toMatchObject({ why: 'The skill is in no role.' });
    expect(why('tool', 'everything/get-tiny-image')).toMatchObject({ why: 'The tool is in no skill.' });
    expect(why('tool', 'everything/echo')).toBeUndefined();

    const pasted = await withKey(` 'Bearer ${key}' `, 'keys', 'explain', '--json');
    expect(JSON.parse(pasted.stdout)).toEqual(explanation);
    // The command that it names works.
    expect((await svc('keys', 'update', 'explained', '--role', 'Everyone', '--role', 'Reader of all')).code).toBe(0);
    expect((await json('keys', 'explain', 'explained')).roles).toHaveLength(2);
  });

  test('tells a revoked key from an unknown one', async () => {
    const { key } = await json('keys', 'create', 'ended');
    await json('keys', 'revoke', 'ended');
    const revoked = await withKey(key, 'keys', 'explain');
    expect(revoked.stdout).toMatch(/The platform refuses this key[\s\S]*It was revoked/);
    const unknown = await withKey(`${key.slice(0, -6)}000000`, 'keys', 'explain');
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('typo')]);
  });
});
