import { afterEach, beforeEach, expect, it } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import type { Node } from '../graph/graph.ts';
import { openAnotherBackend, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { invitation, type Letter } from './letters.ts';
import { MailSender, type MailTimes, usualTimes } from './mail-sender.ts';
import { type NewMail, queueMail } from './queue-mail.ts';
import { type Receiver, rightKey } from './test/receiver.ts';

/** An engine of mail under the contract suite. */
export interface MailEngineUnderTest {
  start(backend: TestBackend): Promise<Receiver>;
  /** The name in a reason. */
  readonly named: RegExp;
  /** What a receiver does, and the state of the mail after one attempt. */
  readonly rows: readonly (readonly [
    behaviour: string,
    state: 'sent' | 'waiting' | 'failed' | 'unsure',
    reason?: RegExp,
  ])[];
  /** The receiver checks a key or a password. */
  readonly hasKey: boolean;
}

/** Attempts follow soon. */
export const quickTimes: MailTimes = {
  ...usualTimes,
  ...{ lookEveryMs: 20, firstRetryMs: 40, retryMaxMs: 40, stopGraceMs: 50 },
};
/** The next attempt is far away. */
const onceTimes: MailTimes = { ...quickTimes, firstRetryMs: 60_000, retryMaxMs: 60_000 };
/** No busy machine exceeds it. */
const usualDeadlineMs = 10_000;
/** For receivers that never answer. */
const shortDeadlineMs = 400;
const deadlineOf = (behaviour: string) => (/^(silent|mute)$/.test(behaviour) ? shortDeadlineMs : usualDeadlineMs);
const link = 'https://app.example.com/sign-in#token=4pqZ7hT2wk';
const hourMs = 60 * 60_000;

export const letter: Letter = invitation({
  ...{ workspace: 'Acme', inviter: 'Ann', link: new Secret(link), expiresAt: Date.UTC(2030, 0, 2, 3, 4) },
});

export async function queue(backend: TestBackend, mail: Partial<NewMail> = {}): Promise<void> {
  const usual = { kind: 'invitation', to: 'bob@example.com', letter, workspace: null, author: null } as const;
  const whole = { ...usual, expiresAt: Date.now() + hourMs, ...mail };
  await backend.graph.write((transaction) => queueMail(backend, transaction, whole));
}

export async function allMail({ graph }: TestBackend): Promise<readonly Node<'mail'>[]> {
  return (await graph.select({ type: 'mail', anchor: null, limit: 1000 })).nodes;
}

export function mailContract({ start, named, rows, hasKey }: MailEngineUnderTest): void {
  let backend: TestBackend;
  let receiver: Receiver;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    backend = await openTestBackend();
    receiver = await start(backend);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await receiver.stop();
    await backend.close();
  });

  interface Started {
    readonly times?: MailTimes;
    readonly key?: string;
    readonly fromName?: string;
    readonly at?: TestBackend;
    readonly deadlineMs?: number;
  }

  function startSender(started: Started = {}) {
    const { times = quickTimes, key = rightKey, fromName = 'Us', at = backend, deadlineMs = usualDeadlineMs } = started;
    const sender = new MailSender(at, receiver.engine({ key: new Secret(key), fromName, deadlineMs }), times);
    const running = sender.start();
    stops.push(() => running.stop());
    return sender;
  }

  const states = async () => (await allMail(backend)).map(({ state }) => state);

  it('delivers a mail once, with its address, subject and link', async () => {
    startSender();
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['sent']);
    const [mail] = await allMail(backend);
    expect(receiver.received).toEqual([
      expect.objectContaining({ id: mail?.id, to: 'bob@example.com', content: expect.stringContaining(link) }),
    ]);
    expect(receiver.received[0]?.subject).toMatch(/Acme|=\?UTF-8\?/);
    expect(receiver.attempts).toBe(1);
  });

  it('stores no address, text or link as it is, and nothing of them after the mail was sent', async () => {
    await queue(backend);
    const stored = JSON.stringify(await allMail(backend));
    // Shorter texts appear in ids and ciphertexts by chance.
    expect(stored).not.toMatch(/bob@|example\.com|4pqZ7hT2wk|invites you/);
    startSender();
    await expect.poll(states, { timeout: 15_000 }).toEqual(['sent']);
    expect(await allMail(backend)).toMatchObject([{ content: null, lastError: null }]);
  });

  it('delivers each mail once with two backends that send at once', async () => {
    const other = await openAnotherBackend(backend);
    stops.push(() => other.close());
    for (let count = 0; count < 30; count++) await queue(backend, { to: `user-${count}@example.com` });
    startSender();
    startSender({ at: other });
    await expect.poll(async () => new Set(await states()), { timeout: 15_000 }).toEqual(new Set(['sent']));
    expect(receiver.received.map(({ to }) => to).sort()).toEqual(
      Array.from({ length: 30 }, (_, count) => `user-${count}@example.com`).sort(),
    );
  });

  it('sends no mail of a change that was not stored', async () => {
    startSender();
    const failing = backend.graph.write(async (transaction) => {
      await queueMail(backend, transaction, {
        ...{
          kind: 'invitation',
          to: 'bob@example.com',
          letter,
          workspace: null,
          author: null,
          expiresAt: Date.now() + hourMs,
        },
      });
      throw new Error('not stored');
    });
    await expect(failing).rejects.toThrow('not stored');
    await queue(backend, { to: 'eve@example.com' });
    await expect.poll(states, { timeout: 15_000 }).toEqual(['sent']);
    expect(receiver.received.map(({ to }) => to)).toEqual(['eve@example.com']);
  });

  it('passes names on as text: they cannot add a header, a recipient or a tag', async () => {
    const evil = 'Acme\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>';
    const hostile = invitation({
      workspace: evil,
      inviter: evil,
      link: new Secret(link),
      expiresAt: Date.now() + hourMs,
    });
    startSender({ fromName: 'Us\r\nBcc: eve@example.com' });
    await queue(backend, { letter: { ...hostile, subject: `${hostile.subject}\r\nBcc: eve@example.com` } });
    await expect.poll(states, { timeout: 15_000 }).toEqual(['sent']);
    const [mail] = receiver.received;
    expect(mail?.headers).not.toContain('Bcc');
    expect(mail?.subject).not.toMatch(/[\r\n]/);
    expect(mail?.content).not.toMatch(/<!doctype[\s\S]*<script>/);
    expect(mail?.content).not.toMatch(/\r?\n ?Bcc|\\nBcc/);
    expect(receiver.received).toHaveLength(1);
  });

  const attempted = rows.map(([behaviour, state, reason = null]) => ({ behaviour, state, reason }));
  it.each(attempted)('$behaviour: the mail is $state', async ({ behaviour, state, reason }) => {
    startSender({ times: onceTimes, deadlineMs: deadlineOf(behaviour) });
    receiver.behave(behaviour);
    await queue(backend);
    const stored = async () => {
      const [mail] = await allMail(backend);
      return { state: mail?.state, attempts: mail?.attempts, error: mail?.lastError, isKept: mail?.content !== null };
    };
    const error = reason === null ? null : expect.stringMatching(reason);
    const expected = { state, attempts: 1, error, isKept: state === 'waiting' };
    await expect.poll(stored, { timeout: 15_000 }).toEqual(expected);
    if (reason !== null) expect((await stored()).error).toMatch(named);
    expect(receiver.attempts).toBe(1);
  });

  const refusals = rows.filter(([, state]) => state === 'waiting').map(([behaviour]) => behaviour);
  it.each(refusals)('delivers a mail once after two attempts with %s', async (behaviour) => {
    startSender({ deadlineMs: deadlineOf(behaviour) });
    receiver.behave(behaviour, behaviour);
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['sent']);
    expect(receiver.attempts).toBe(3);
    expect(receiver.received).toHaveLength(1);
  });

  const unknowns = rows.filter(([, state]) => state === 'unsure').map(([behaviour]) => behaviour);
  it.each(unknowns)('does not repeat a mail after %s', async (behaviour) => {
    startSender({ deadlineMs: deadlineOf(behaviour) });
    receiver.behave(behaviour);
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['unsure']);
    await queue(backend, { to: 'eve@example.com' });
    await expect.poll(states, { timeout: 15_000 }).toEqual(['unsure', 'sent']);
    expect(receiver.attempts).toBe(2);
  });

  // The log has no receiver that could refuse a key or be away.
  if (!hasKey) return;

  it('waits while the key is wrong, and shows the key nowhere', async () => {
    startSender({ key: 'wrong-key-93af' });
    await queue(backend);
    await expect.poll(async () => (await allMail(backend))[0]?.attempts, { timeout: 15_000 }).toBeGreaterThan(1);
    const shown = JSON.stringify([await allMail(backend), backend.logged]);
    expect(shown).toMatch(/401|535/);
    for (const form of ['wrong-key-93af', Buffer.from('\0svc\0wrong-key-93af').toString('base64'), 'd3Jvbmcta2V5']) {
      expect(shown).not.toContain(form);
    }
    expect(shown).not.toMatch(/bob@|4pqZ7hT2wk/);
    expect(receiver.received).toEqual([]);
  });

  it('delivers mail that waited for a receiver that was away', async () => {
    await receiver.stop();
    startSender({ times: onceTimes });
    await queue(backend);
    await expect
      .poll(async () => (await allMail(backend))[0]?.lastError, { timeout: 15_000 })
      .toMatch(/connection refused/);
    expect(await states()).toEqual(['waiting']);
    for (const stop of stops.splice(0)) await stop();
    receiver = await start(backend);
    const [mail] = await allMail(backend);
    await backend.graph.write((transaction) =>
      transaction.update('mail', mail?.id ?? expect.fail(), { dueAt: Date.now() }, { anchor: null }),
    );
    startSender();
    await expect.poll(async () => receiver.received.length, { timeout: 15_000 }).toBe(1);
  });
}
