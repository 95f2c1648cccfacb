import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const svc = (line: string, ...more: string[]) => platform.svc(...line.split(' '), ...more);
const json = async (line: string) => JSON.parse((await svc(`${line} --json`)).stdout);
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));

beforeAll(async () => {
  expect(await svc('server add demo --', process.execPath, demo)).toMatchObject({ code: 0 });
  expect(await svc('server add broken --', process.execPath, '-e', 'process.exit(1)')).toMatchObject({ code: 1 });
});

describe('the tools of a new skill', () => {
  test.each([
    ['demo/ad', 'The MCP server "demo" offers no tool "ad".\nDid you mean "demo/add"?'],
    ['demo/qqq', 'The MCP server "demo" offers no tool "qqq".\nIt offers: echo, add, now, slow_report, fail.'],
    ['demo/qqq*', 'No tool of the MCP server "demo" matches "qqq*".\nIt offers: echo,'],
    ['broken/x', 'The MCP server "broken" has not listed its tools yet: it is '],
    ['broken/*', 'The MCP server "broken" has not listed its tools yet: it is '],
  ])('%s is refused, unless it is allowed', async (tool, message) => {
    const refused = await svc(`skill create s --tool ${tool}`);
    expect(refused.stderr).toContain(`Error: ${message}`);
    expect(refused.stderr).toContain('add --allow-missing');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect((await json('skill list')).skills).toEqual([]);
    expect(await svc(`skill create s --tool ${tool} --allow-missing`)).toMatchObject({ code: 0 });
    expect(await svc('skill remove s')).toMatchObject({ code: 0, stdout: 'Removed skill s.\n' });
  });

  test('of an unknown MCP server are refused in any case', async () => {
    const { code, stderr } = await svc('skill create s --tool dem/* --allow-missing');
    expect(stderr).toBe('Error: There is no MCP server "dem".\nDid you mean "demo"?\n');
    expect(code).toBe(1);
  });
});

test('a skill is changed field by field, and shown', async () => {
  expect((await svc('skill create one --tool demo/add')).stdout).toBe('Created skill one: demo/add.\n');
  writeFileSync(join(platform.dir(), 'one.md'), 'Add numbers.\n');
  const update = (line: string) => svc(`skill update one ${line}`);
  expect((await update('--description Adds --instructions one.md')).stdout).toBe(
    'Changed skill one: description, instructions.\n',
  );
  expect((await update('--description Adds')).stdout).toBe('Nothing to change: the skill one is like that already.\n');
  expect((await update('--add-tool demo/*o* --remove-tool demo/add')).stdout).toBe('Changed skill one: tools.\n');
  expect(await json('skill show one')).toMatchObject({
    ...{ name: 'one', description: 'Adds', instructions: 'Add numbers.\n', available: true, reason: null },
    ...{ patterns: ['demo/*o*'], roles: [], files: [] },
    tools: ['echo', 'now', 'slow_report'].map((tool) => ({ mcpServer: 'demo', tool, state: 'callable' })),
  });
  expect((await svc('skill show one')).stdout).toMatch(
    /^name +one\n(.*\n)*patterns +demo\/\*o\*\n(.*\n)*demo\/echo +callable\n(.*\n)*INSTRUCTIONS\nAdd numbers\.\n$/,
  );
  const byPattern = await update('--remove-tool demo/echo');
  expect(byPattern.stderr).toContain('has the tool "demo/echo" by a pattern, which cannot leave out one tool.');
  expect((await update('--remove-tool demo/nothing')).code).toBe(1);
  expect(await svc('skill update one')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('names nothing to change'),
  });
  expect(await json('skill update one --tool demo/add --name other')).toMatchObject({ changed: ['name', 'tools'] });
  expect(await svc('skills:remove other')).toMatchObject({ code: 0 });
}, 60_000);

test('a role is changed and removed, and what else changes is confirmed', async () => {
  await svc('skill create a');
  await svc('skill create b');
  await svc('role create Reader --skill a');
  await svc('role create Other');
  await svc('keys create --name limited --role Reader');
  await svc('keys create --name both --role Reader --role Other');
  const update = (line: string) => svc(`role update Reader ${line}`);
  expect((await update('--add-skill b --remove-skill a --disable')).stdout).toBe(
    'Changed role Reader: skills, enabled.\n',
  );
  expect(await json('role show Reader')).toMatchObject({
    ...{ name: 'Reader', active: false, skills: [{ name: 'b' }] },
    keys: expect.arrayContaining([expect.objectContaining({ name: 'both' })]),
  });
  expect((await update('--remove-skill a')).stderr).toContain('The role "Reader" does not have the skill "a".');
  expect((await update('--skill a --skill b --enable')).stdout).toBe('Changed role Reader: skills, enabled.\n');

  const refused = await svc('skill remove a');
  expect(refused.stderr).toContain('- The role "Reader" loses it.\n');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  expect(await json('skill remove a --yes')).toMatchObject({
    ...{ name: 'a', removed: true },
    affected: [{ kind: 'role', name: 'Reader' }],
  });
  const role = await svc('role remove Reader');
  expect(role.stderr).toContain('- The key "limited" has no other role: its agents see no skills any more.\n');
  expect(role.stderr).toContain('- The key "both" loses it.\n');
  expect(role.code).toBe(2);
  const removed = await json('role remove Reader --yes');
  expect(removed.affected.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`).sort()).toEqual([
    'key both',
    'key limited',
  ]);
  expect(await svc('role remove Other --yes')).toMatchObject({ code: 0 });
}, 60_000);

test('tool rules of a role are given, changed, shown and refused', async () => {
  await svc('skill create ruled --tool demo/*');
  expect((await svc('role create Ruled --skill ruled --deny demo/ad')).stderr).toContain('Did you mean "demo/add"?');
  expect((await svc('role create Ruled --deny add')).stderr).toContain('--deny must be MCPSERVER/TOOL');
  expect((await svc('role create Ruled --allow demo/add --deny demo/add')).stderr).toContain('both allows and denies');
  expect(await svc('role create Ruled --skill ruled --deny demo/add --read-only')).toMatchObject({ code: 0 });
  expect(await json('role show Ruled')).toMatchObject({ readOnly: true, allow: [], deny: ['demo/add'] });
  const update = async (line: string) => (await svc(`role update Ruled ${line}`)).stdout;
  expect(await update('--add-deny demo/f* --no-read-only')).toBe('Changed role Ruled: readOnly, deny.\n');
  expect(await update('--add-deny demo/fa*l --remove-deny demo/f* --add-allow demo/*')).toBe(
    'Changed role Ruled: allow, deny.\n',
  );
  expect(await update('--add-allow demo/*')).toBe('Nothing to change: the role Ruled is like that already.\n');
  expect((await svc('role update Ruled --remove-deny demo/now')).stderr).toContain(
    'The role "Ruled" has no rule "deny demo/now".',
  );
  expect(await svc('role update Ruled --add-deny demo/later --allow-missing')).toMatchObject({ code: 0 });
  expect((await svc('role show Ruled')).stdout).toMatch(
    /\nallow +demo\/\*\ndeny +demo\/add, demo\/fa\*l, demo\/later\n/,
  );
  await svc('keys create --name ruled --role Ruled');
  const { roles, unusable } = await json('keys explain ruled');
  expect(roles).toMatchObject([{ name: 'Ruled', skills: [{ tools: ['echo', 'now', 'slow_report'] }] }]);
  expect(unusable).toContainEqual({
    ...{ kind: 'tool', name: 'demo/fail', why: 'The role Ruled does not allow it (rule: deny demo/fa*l).' },
    change: "Change the rules of the role Ruled: svc role update Ruled --remove-deny 'demo/fa*l'",
  });
}, 60_000);
