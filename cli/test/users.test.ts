import { expect, test } from 'vitest';
import { hasTerminal, runAtTerminal } from './run-at-terminal.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
const svc = (line: string) => platform.svc(...line.split(' '));
const json = async (line: string) => JSON.parse((await svc(`${line} --json`)).stdout);

test('a person is made a member, listed, changed and removed', async () => {
  const created = await svc('user create Ann@Example.com');
  expect(created).toMatchObject({ code: 0, stdout: 'Made ann@example.com a member of Default: viewer.\n' });
  expect(created.stderr).toBe('A link to sign in: svc user reset ann@example.com\n');
  expect((await svc('user create ann@example.com --role admin')).code).toBe(5);
  expect((await svc('user create ben@example.com --role king')).stderr).toContain(
    '--role must be viewer or editor or admin or owner, not "king".',
  );
  expect((await svc('user create ben')).stderr).toContain('"ben" is not an e-mail address.');
  const invited = await svc('user invite Cleo@example.com --role editor');
  expect(invited).toMatchObject({ code: 0, stdout: 'Invited cleo@example.com to Default: editor.\n' });
  expect(invited.stderr).toMatch(/^The link of the mail, for cleo@example\.com alone: http:.*\/invitation#token=inv_/);
  expect((await svc('user invite ann@example.com')).code).toBe(5);
  await svc('workspace create Acme --owner-email ann@example.com');
  expect((await json('user list')).users).toContainEqual({
    ...{ email: 'ann@example.com', name: 'ann' },
    workspaces: [
      { name: 'Acme', role: 'owner', suspended: false },
      { name: 'Default', role: 'viewer', suspended: false },
    ],
  });
  expect((await svc('user list --workspace Acme')).stdout).toMatch(
    /^EMAIL +WORKSPACE +ROLE +STATE\nann@example\.com +Acme +owner +active\n$/,
  );
  const update = (line: string) => svc(`user update ann@example.com ${line}`);
  expect((await update('--role editor --suspend')).stdout).toBe('Changed member ann@example.com: role, suspended.\n');
  expect((await update('--role editor')).stdout).toContain('Nothing to change');
  expect((await update('--workspace Acme --suspend')).stderr).toContain('is the last owner of the workspace "Acme".');
  expect((await svc('user update an@example.com --resume')).stderr).toContain('Did you mean "ann@example.com"?');
  expect((await svc('user update ann@example.com')).code).toBe(2);
  expect(await json('user remove ANN@example.com')).toMatchObject({
    ...{ name: 'ann@example.com', removed: true, affected: [] },
  });
  expect((await json('user list --workspace Default')).users).toMatchObject([{ email: 'owner@localhost' }]);
}, 60_000);

test('a removal names the keys that it revokes, and asks', async () => {
  await svc('keys create agent');
  const last = await svc('user remove owner@localhost');
  expect(last).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is the last owner of the workspace "Default"'),
  });
  expect(last.stderr).not.toContain('agent');
  await svc('user create eve@example.com --role owner');
  const refused = await svc('user remove owner@localhost');
  expect(refused.stderr).toContain('- The key "agent" is revoked: its agents lose access.');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  expect((await json('keys list')).keys).toMatchObject([{ name: 'agent', state: 'valid' }]);
  const kept = await svc('user remove owner@localhost --keys-to eve@example.com');
  expect(kept.stderr).toContain('- The key "agent" goes to eve@example.com: its agents go on.');
  await json('user remove owner@localhost --keys-to eve@example.com --yes');
  expect((await json('keys list')).keys).toMatchObject([{ name: 'agent', state: 'valid' }]);
  await svc('user create owner@localhost --role owner');
  expect(await json('user remove eve@example.com --yes')).toMatchObject({ affected: [{ kind: 'key', name: 'agent' }] });
  expect((await json('keys list')).keys).toMatchObject([{ name: 'agent', state: 'revoked' }]);
}, 60_000);

test.skipIf(!hasTerminal)(
  'at a terminal a removal asks who gets the keys',
  async () => {
    await svc('user create gil@example.com --role owner');
    await svc('keys create passed-on');
    const { code, seen } = await runAtTerminal(['user', 'remove', 'owner@localhost'], {
      ...{ cwd: platform.dir(), env: {} },
      answers: [
        { at: 'What becomes of the API key of owner@localhost?', type: '\u001b[B\r' },
        { at: 'Remove the member "owner@localhost"?', type: 'y\r' },
      ],
    });
    expect(seen).toContain('- The key "passed-on" goes to gil@example.com: its agents go on.');
    expect(seen).toContain('- MCP servers, skills and roles stay: they belong to the workspace.');
    expect(code).toBe(0);
    expect((await json('keys list')).keys).toContainEqual(
      expect.objectContaining({ name: 'passed-on', state: 'valid' }),
    );
    const last = await svc('user remove gil@example.com --yes');
    expect(last).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('is the last owner of the workspace "Default"'),
    });
    await svc('user create owner@localhost --role owner');
    await svc('user remove gil@example.com --yes');
    expect((await json('keys list')).keys).toContainEqual(
      expect.objectContaining({ name: 'passed-on', state: 'revoked' }),
    );
  },
  90_000,
);
