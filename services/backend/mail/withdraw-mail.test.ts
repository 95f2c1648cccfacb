import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import { addLink, removeLinks } from '../accounts/sign-in-links.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { invite, withdrawInvitation } from '../workspaces/invitations.ts';
import { signInLink } from './letters.ts';
import { perAddressMax, queueMail, withdrawMail } from './queue-mail.ts';

/** Nothing sends its mail, as where the mail server is away. */
let backend: TestBackend;
beforeAll(async () => {
  backend = await openTestBackend();
});
afterAll(() => backend.close());

const inState = (state: string) => [{ field: 'state', equals: state }] as const;
const count = (state: string) => backend.graph.count({ type: 'mail', anchor: null, where: inState(state), limit: 1 });
const waiting = async () => (await count('waiting')) + (await count('sending'));

test('an invitation that is withdrawn or replaced is not sent, and those of other workspaces are', async () => {
  const [{ id: workspace, owner: principal }, other] = [
    await addWorkspace(backend, 'a'),
    await addWorkspace(backend, 'b'),
  ];
  const input = { email: 'x@example.com', role: 'viewer' } as const;
  await invite(backend, { principal: other.owner, workspace: other.id }, input);
  await invite(backend, { principal, workspace }, input);
  expect(await waiting()).toBe(2);
  const again = await invite(backend, { principal, workspace }, input);
  expect(await waiting()).toBe(2);
  await withdrawInvitation(backend, { principal, workspace }, again.id);
  expect(await waiting()).toBe(1);
  const where = inState('waiting');
  const [left] = (await backend.graph.select({ type: 'mail', anchor: null, where, limit: 1 })).nodes;
  expect(left?.source).toBe(other.id);
});

test('a withdrawn invitation counts for its address', async () => {
  const { id: workspace, owner: principal } = await addWorkspace(backend, 'c');
  const input = { email: 'often@example.com', role: 'viewer' } as const;
  for (let i = 0; i < perAddressMax; i++) await invite(backend, { principal, workspace }, input);
  await expect(invite(backend, { principal, workspace }, input)).rejects.toMatchObject({ code: 'rate_limited' });
});

test('a sign-in link that has ended is not sent, and mail that is being sent stays', async () => {
  const before = await waiting();
  const [user] = (await backend.graph.select({ type: 'user', anchor: null, limit: 1 })).nodes;
  if (user === undefined) throw new Error('no person');
  const { email } = user;
  const link = { link: new Secret('https://app.example.com/sign-in#token=x'), expiresAt: Date.now() + 60_000 };
  const mail = { kind: 'sign-in', to: email, workspace: null, author: null, letter: signInLink(link) } as const;
  await backend.graph.write(async (transaction) => {
    await addLink(transaction, backend, user);
    await queueMail(backend, transaction, { ...mail, expiresAt: link.expiresAt });
    await queueMail(backend, transaction, { ...mail, expiresAt: link.expiresAt });
  });
  expect(await waiting()).toBe(before + 2);
  const where = [{ field: 'state', equals: 'waiting' }] as const;
  const last = await backend.graph.select({ type: 'mail', anchor: null, where, descending: true, limit: 1 });
  for (const { id } of last.nodes) {
    await backend.graph.write((transaction) => transaction.update('mail', id, { state: 'sending' }, { anchor: null }));
  }
  await backend.graph.write((transaction) => removeLinks(backend, transaction, user));
  expect(await waiting()).toBe(before + 1);
  const gone = { kind: 'invitation', to: email, workspace: null } as const;
  await backend.graph.write((transaction) => withdrawMail(backend, transaction, gone));
  expect(await waiting()).toBe(before + 1);
});
