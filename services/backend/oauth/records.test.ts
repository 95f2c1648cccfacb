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
