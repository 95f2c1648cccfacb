import { expect, test } from 'vitest';
import type { KeyReply, Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { Principals } from './principals.ts';

const key = newKey('user').reveal();
const principal: Principal = {
  key: newId('key'),
  keyName: 'agent',
  user: newId('user'),
  workspace: newId('workspace'),
  workspaceName: 'acme',
  suspended: false,
  roles: null,
  expiresAt: null,
};

/** A backend that answers when told. */
function principals() {
  const questions: { readonly key: string; answer(reply: KeyReply): void; fail(): void }[] = [];
  const used: Principal[] = [];
  const subject = new Principals({
    checkKey: (asked) =>
      new Promise((resolve, reject) => {
        questions.push({
          key: asked.reveal(),
          answer: resolve,
          fail: () => reject(new SvcError('unavailable', 'away')),
        });
      }),
    onUsed: (who) => used.push(who),
  });
  const authenticate = async (text = key) => await subject.authenticate(`Bearer ${text}`);
  return { subject, questions, used, authenticate };
}

const good: KeyReply = { ok: true, principal };
const unknown: KeyReply = { ok: false, refusal: 'unknown', at: null };

test('many requests with the same key are one question, and then none', async () => {
  const { subject, questions, used, authenticate } = principals();
  const all = Array.from({ length: 20 }, () => authenticate());
  expect(questions.map((question) => question.key)).toEqual([key]);
  questions[0]?.answer(good);
  for (const found of await Promise.all(all)) expect(found).toBe(principal);
  expect(subject.authenticate(`Bearer ${key}`)).toBe(principal);
  expect(questions).toHaveLength(1);
  expect(used).toEqual([principal]);
});

test('a refusal is remembered for a moment, and forgotten when any key changes', async () => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  questions[0]?.answer(unknown);
  await expect(first).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(authenticate()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(questions).toHaveLength(1);
  subject.forgetKey(newId('key'));
  const again = authenticate();
  questions[1]?.answer(good);
  expect(await again).toBe(principal);
});

test('a refusal that was on its way when a key changed is not remembered', async () => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  subject.forgetKey(newId('key'));
  questions[0]?.answer(unknown);
  await expect(first).rejects.toMatchObject({ code: 'unauthenticated' });
  const again = authenticate();
  expect(questions).toHaveLength(2);
  questions[1]?.answer(good);
  expect(await again).toBe(principal);
});

test('a key that cannot be checked is refused with 503 and asked about again', async () => {
  const { questions, authenticate } = principals();
  const first = authenticate();
  questions[0]?.fail();
  await expect(first).rejects.toMatchObject({ code: 'unavailable' });
  const again = authenticate();
  questions[1]?.answer(good);
  expect(await again).toBe(principal);
});

test.each<[string, (subject: Principals) => void]>([
  ['its key changed', (subject) => subject.forgetKey(principal.key)],
  ['its workspace changed', (subject) => subject.forgetWorkspace(principal.workspace)],
  ['events may have been missed', (subject) => subject.forgetAll()],
])('what is known of a key is forgotten when %s, and so is an answer still on its way', async (_when, forget) => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  forget(subject);
  questions[0]?.answer(good);
  await first;
  const second = authenticate();
  expect(questions).toHaveLength(2);
  questions[1]?.answer(good);
  await second;
  expect(subject.authenticate(`Bearer ${key}`)).toBe(principal);
  forget(subject);
  void authenticate();
  expect(questions).toHaveLength(3);
});

test('whoever asks after a key has changed does not wait for what was asked before', async () => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  subject.forgetKey(principal.key);
  const second = authenticate();
  expect(questions).toHaveLength(2);
  questions[0]?.answer(good);
  expect(await first).toBe(principal);
  const third = authenticate();
  expect(questions).toHaveLength(2);
  questions[1]?.answer({ ok: false, refusal: 'revoked', at: null });
  for (const late of [second, third]) await expect(late).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('another key of the workspace stays known when one is revoked', async () => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  questions[0]?.answer(good);
  await first;
  subject.forgetKey(newId('key'));
  expect(subject.authenticate(`Bearer ${key}`)).toBe(principal);
});

test('a flood of unknown keys is no flood of questions', async () => {
  const { questions, authenticate } = principals();
  const answers = Array.from({ length: 300 }, () => authenticate(newKey('user').reveal()));
  const outcomes = Promise.allSettled(answers);
  for (const question of questions) question.answer(unknown);
  const codes = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.code);
  expect(questions).toHaveLength(256);
  expect(codes.filter((code) => code === 'unavailable')).toHaveLength(44);
});
