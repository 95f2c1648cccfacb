import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
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
  disclosure: 'skills',
  expiresAt: null,
};

/** A backend that answers at the test's command. */
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

test('many requests with the same key ask the backend once, and later requests not at all', async () => {
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

test('a running check that ends in a refusal is not cached if a key changes meanwhile', async () => {
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

test('a key that cannot be checked is refused with 503, and checked again by the next request', async () => {
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

test("a request after a key's change does not wait for an earlier check", async () => {
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

test("revoking a key keeps the workspace's other keys cached", async () => {
  const { subject, questions, authenticate } = principals();
  const first = authenticate();
  questions[0]?.answer(good);
  await first;
  subject.forgetKey(newId('key'));
  expect(subject.authenticate(`Bearer ${key}`)).toBe(principal);
});

test('a person who signs out is forgotten where tools are tried, and keeps the keys', async () => {
  const { subject, questions, authenticate } = principals();
  const token = newKey('user').reveal();
  const trying: Principal = { ...principal, key: newId('key'), operator: true };
  const [first, second] = [authenticate(), authenticate(token)];
  questions[0]?.answer(good);
  questions[1]?.answer({ ok: true, principal: trying });
  await Promise.all([first, second]);
  expect([...subject.forgetPerson(newId('user'))]).toEqual([]);
  expect([...subject.forgetPerson(principal.user)]).toEqual([trying.key]);
  expect(subject.authenticate(`Bearer ${key}`)).toBe(principal);
  void authenticate(token);
  expect(questions).toHaveLength(3);
});

describe('a flood of unknown keys', () => {
  const bad = () => newKey('user').reveal();
  /** Node counts the listeners of a socket, so each connection has its own socket. */
  const connection = () => new Socket();

  /** Resolves when as many checks run as there are places. */
  async function flooded(connections = 300) {
    const platform = principals();
    const { subject } = platform;
    const ask = async (text: string, on = connection()) =>
      await subject.authenticate(`Bearer ${text}`, { socket: on, isChunked: false });
    const flood = Array.from({ length: connections }, () => ask(bad()));
    for (const answer of flood) answer.catch(() => undefined);
    while (platform.questions.length < Math.min(16, connections)) await tick();
    return { ...platform, ask, flood };
  }

  test('does not flood the backend with questions', async () => {
    const { questions, flood } = await flooded();
    await tick();
    expect(questions).toHaveLength(16);
    for (let i = 0; i < 300; i++) {
      questions[i]?.answer(unknown);
      await tick();
    }
    const codes = (await Promise.allSettled(flood)).map((one) => one.status === 'rejected' && one.reason.code);
    expect(new Set(codes)).toEqual(new Set(['unauthenticated']));
  });

  test('waits with a limited number of chunked requests, each with its connection', async () => {
    const { subject, questions } = await flooded(16);
    const ask = (isChunked: boolean) =>
      Promise.resolve(subject.authenticate(`Bearer ${bad()}`, { socket: connection(), isChunked }));
    const chunked = Array.from({ length: 33 }, () => ask(true));
    const outcomes = Promise.allSettled([...chunked, ask(false)]);
    await tick();
    for (let i = 0; i < 49; i++) {
      questions[i]?.answer(unknown);
      await tick();
    }
    const codes = (await outcomes).map((one) => one.status === 'rejected' && one.reason.code);
    expect(codes).toEqual([...Array(32).fill('unauthenticated'), 'unavailable', 'unauthenticated']);
  });

  test('does not delay keys that were good before', async () => {
    const { subject, questions, authenticate, ask } = await flooded(0);
    const first = authenticate();
    questions[0]?.answer(good);
    await first;
    for (let i = 0; i < 300; i++) ask(bad()).catch(() => undefined);
    while (questions.length < 17) await tick();
    subject.forgetAll();
    const again = authenticate();
    expect(questions.at(-1)?.key).toBe(key);
    questions.at(-1)?.answer(good);
    expect(await again).toBe(principal);
  });

  test('gives no place to a key that was good and no longer is', async () => {
    const { subject, questions, authenticate, ask } = await flooded(0);
    const first = authenticate();
    questions[0]?.answer(good);
    await first;
    subject.forgetAll();
    const second = authenticate();
    questions[1]?.answer({ ok: false, refusal: 'revoked', at: null });
    await expect(second).rejects.toMatchObject({ code: 'unauthenticated' });
    subject.forgetAll();
    for (let i = 0; i < 300; i++) ask(bad()).catch(() => undefined);
    while (questions.length < 18) await tick();
    const asked = questions.length;
    authenticate().catch(() => undefined);
    await tick();
    expect(questions).toHaveLength(asked);
  });

  test('checks a new key after the keys that arrived before it', async () => {
    const { questions, ask } = await flooded(100);
    const asked = ask(key);
    for (let i = 0; i < 101; i++) {
      questions[i]?.answer(questions[i]?.key === key ? good : unknown);
      await tick();
    }
    expect(await asked).toBe(principal);
  });

  test('lets one key of a connection wait, and refuses the others', async () => {
    const { ask } = await flooded(16);
    const on = connection();
    ask(bad(), on).catch(() => undefined);
    await expect(ask(bad(), on)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('leaves nothing behind when its connections close', async () => {
    const { questions, ask } = await flooded(16);
    const closed = Array.from({ length: 5000 }, async () => {
      const on = connection();
      const answer = ask(bad(), on);
      on.emit('close');
      await expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    });
    await Promise.all(closed);
    const asked = ask(key);
    questions[0]?.answer(unknown);
    while (questions.length < 17) await tick();
    expect(questions.at(-1)?.key).toBe(key);
    questions.at(-1)?.answer(good);
    expect(await asked).toBe(principal);
  });
});

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
