import { expect, test } from 'vitest';
import { revokeKey } from '../keys/revoke-key.ts';
import { addMember, addWorkspace, openTestBackend, operator } from '../test/open-test-backend.ts';
import { removeMember } from '../workspaces/change-members.ts';
import { connectAgent } from './connected-agents.ts';
import { Records } from './records.ts';

const expiresAt = Date.now() + 60_000;

test('a grant keeps its latest tokens, however often its agent refreshes, and no other grant loses one', async () => {
  const backend = await openTestBackend();
  const records = new Records(backend);
  const keep = (id: string, grant: string) =>
    records.keep({ kind: 'RefreshToken', id, grant, expiresAt, payload: { jti: id } });
  for (const id of ['busy', 'quiet'])
    await records.keep({ kind: 'Grant', id, grant: undefined, expiresAt, payload: {} });
  const count = () => backend.graph.count({ type: 'oauthRecord', anchor: null, limit: 1 });
  await keep('other', 'quiet');
  for (let i = 0; i < 50; i++) await keep(`t${i}`, 'busy');
  expect(await count()).toBe(2 + 33);
  const find = (id: string) => records.find({ kind: 'RefreshToken', id });
  expect([await find('t17'), await find('t18'), await find('t49'), await find('other')]).toEqual([
    null,
    ...['t18', 't49', 'other'].map((jti) => expect.objectContaining({ payload: { jti } })),
  ]);
  await records.removeTokens('busy');
  expect([await count(), await keep('again', 'busy')]).toEqual([2 + 1, true]);
  await records.remove({ kind: 'Grant', id: 'busy' });
  expect([await count(), await keep('late', 'busy')]).toEqual([1 + 1, false]);
  await backend.close();
});

test.each(['revoked', 'disconnected with its member'])('nothing is left of an agent that is %s', async (how) => {
  const backend = await openTestBackend();
  const records = new Records(backend);
  const { id: workspace } = await addWorkspace(backend, 'acme');
  const member = await addMember(backend, workspace, 'editor');
  const connect = async (grant: string) => {
    await records.keep({ kind: 'Grant', id: grant, grant: undefined, expiresAt, payload: {} });
    await records.keep({ kind: 'RefreshToken', id: `token of ${grant}`, grant, expiresAt, payload: {} });
    const client = { id: 'c', name: 'Agent' };
    return connectAgent(backend, { principal: member, workspace, roles: null, scope: 'tools', client, grant });
  };
  const key = await connect('one');
  const find = (grant: string) =>
    Promise.all([
      records.find({ kind: 'Grant', id: grant }),
      records.find({ kind: 'RefreshToken', id: `token of ${grant}` }),
    ]);
  const present = [expect.objectContaining({ expiresAt }), expect.objectContaining({ expiresAt })];
  if (how === 'revoked') {
    await connect('two');
    await revokeKey(backend, { principal: operator, workspace }, key.id);
    expect(await find('two')).toEqual(present);
  } else {
    expect(await find('one')).toEqual(present);
    const found = await backend.graph.findBy('member', { user: member.user }, workspace);
    await removeMember(backend, { principal: operator, workspace }, { id: found?.id ?? '' });
  }
  expect(await find('one')).toEqual([null, null]);
  await backend.close();
});

test('a flood of sign-ins of agents that nobody answers removes its own oldest ones, and no other record', async () => {
  const backend = await openTestBackend();
  const records = new Records(backend, 150);
  await records.keep({ kind: 'Grant', id: 'grant', grant: undefined, expiresAt, payload: {} });
  const begin = (id: string, at: number) =>
    records.keep({ kind: 'Interaction', id, grant: undefined, expiresAt: expiresAt + at, payload: { id } });
  for (let at = 0; at < 450; at++) expect(await begin(`flood ${at}`, at)).toBe(true);
  await begin('person', 450);
  for (let at = 451; at < 480; at++) await begin(`flood ${at}`, at);
  const count = await backend.graph.count({ type: 'oauthRecord', anchor: null, limit: 1 });
  expect(count).toBeLessThanOrEqual(1 + 150 + 201);
  const find = (kind: string, id: string) => records.find({ kind, id });
  expect(await find('Interaction', 'person')).toMatchObject({ payload: { id: 'person' } });
  expect(await find('Grant', 'grant')).not.toBe(null);
  expect(await find('Interaction', 'flood 0')).toBe(null);
  await backend.close();
});
