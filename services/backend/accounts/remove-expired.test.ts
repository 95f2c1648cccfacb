import { expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { openTestBackend } from '../test/open-test-backend.ts';
import { removeExpired } from './remove-expired.ts';

test('expired sessions and links are removed, more than one transaction removes, and the rest stays', async () => {
  const backend = await openTestBackend();
  const { graph } = backend;
  const now = Date.now();
  const user = newId('user');
  const session = {
    user,
    device: 'Firefox',
    generation: 1,
    provenBy: 'link',
    provenAt: 0,
    refreshedAt: 0,
    createdAt: 0,
  };
  await graph.write(async (transaction) => {
    for (let i = 0; i < 150; i++) {
      const expiresAt = now - 75 + i;
      await transaction.create('browserSession', { ...session, id: newId('browserSession'), expiresAt });
      await transaction.create('signInLink', { id: newId('signInLink'), user, createdAt: 0, expiresAt });
    }
    for (let i = 0; i < 150; i++) {
      await transaction.create('signInLink', { id: newId('signInLink'), user, createdAt: 0, expiresAt: i });
    }
  });
  await removeExpired(graph, now, new AbortController().signal);
  for (const type of ['browserSession', 'signInLink'] as const) {
    const { nodes } = await graph.select({ type, anchor: null, orderBy: 'expiresAt', limit: 500 });
    expect([type, nodes.length, nodes[0]?.expiresAt]).toEqual([type, 75, now]);
  }
  await backend.close();
});
