import { expect, test } from 'vitest';
import { openTestBackend } from '../test/open-test-backend.ts';
import { Records } from './records.ts';

const expiresAt = Date.now() + 60_000;

test('a grant keeps its latest tokens, however often its agent refreshes, and no other grant loses one', async () => {
  const backend = await openTestBackend();
  const records = new Records(backend);
  const keep = (id: string, grant: string) =>
    records.keep({ kind: 'RefreshToken', id, grant, expiresAt, payload: { jti: id } });
  await keep('other', 'quiet');
  for (let i = 0; i < 50; i++) await keep(`t${i}`, 'busy');
  expect(await backend.graph.count({ type: 'oauthRecord', anchor: null, limit: 1 })).toBe(33);
  const find = (id: string) => records.find({ kind: 'RefreshToken', id });
  expect([await find('t17'), await find('t18'), await find('t49'), await find('other')]).toEqual([
    null,
    ...['t18', 't49', 'other'].map((jti) => expect.objectContaining({ payload: { jti } })),
  ]);
  await records.removeOfGrant('busy');
  expect(await backend.graph.count({ type: 'oauthRecord', anchor: null, limit: 1 })).toBe(1);
  await backend.close();
});
