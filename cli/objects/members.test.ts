import { expect, test } from 'vitest';
import { fateOf, isAgent, type Member } from './members.ts';

const heir = { person: { email: 'eve@example.com' } } as Member;
const key = { name: 'nightly', client: null };
const agent = { name: 'Claude', client: 'https://claude.example/client' };

test('a removal revokes keys or hands them over, and disconnects connected agents in either case', () => {
  expect([key, agent].map(isAgent)).toEqual([false, true]);
  expect([fateOf(key, null), fateOf(key, heir)]).toEqual([
    'The key "nightly" is revoked: its agents lose access.',
    'The key "nightly" goes to eve@example.com: its agents go on.',
  ]);
  const disconnected = 'The connected agent "Claude" is disconnected: it acts for this person.';
  expect([fateOf(agent, null), fateOf(agent, heir)]).toEqual([disconnected, disconnected]);
});
