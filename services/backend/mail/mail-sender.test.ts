import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { openSecrets } from '../secrets/secrets.ts';
import { openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { allMail, letter, queue, quickTimes } from './mail.contract.ts';
import { accepted, type MailEngine, type Outcome, refused } from './mail-engine.ts';
import { MailSender, type MailTimes, retryDelayMs } from './mail-sender.ts';
import { forgetMail, summariseMail } from './mail-state.ts';
import { ownPlaces, perAddressMax, perAuthorMax, perWorkspaceMax, waitingMax } from './queue-mail.ts';

let backend: TestBackend;
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  backend = await openTestBackend();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await backend.close();
});

/** An engine that notes the addresses, in their order. */
function notingEngine(answer: (to: string, signal: AbortSignal) => Outcome | Promise<Outcome> = () => accepted) {
  const addresses: string[] = [];
  const engine: MailEngine = {
    deadlineMs: 10_000,
    async send({ to }, signal) {
      addresses.push(to);
      return await answer(to, signal);
    },
  };
  return { addresses, engine };
}

function startSender(engine: MailEngine, times: Partial<MailTimes> = {}, at = backend) {
  const sender = new MailSender(at, engine, { ...quickTimes, ...times });
  const running = sender.start();
  stops.push(() => running.stop());
  return { sender, stop: () => running.stop() };
}

const states = async () => (await allMail(backend)).map(({ state }) => state);

describe('a flood', () => {
  it(`of mail to one address queues ${perAddressMax} an hour, also when all come at once`, async () => {
    const { addresses, engine } = notingEngine();
    startSender(engine);
    const flood = Array.from({ length: 40 }, () => queue(backend, { kind: 'sign-in', to: 'Bob@example.com' }));
    const outcomes = await Promise.allSettled(flood);
    const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refusals).toHaveLength(40 - perAddressMax);
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'rate_limited' });
    await expect.poll(() => addresses.length).toBe(perAddressMax);
    // Sent mail counts too, in any spelling of the address.
    await expect(queue(backend, { kind: 'sign-in', to: 'bob@EXAMPLE.com' })).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });

  it('prevents neither other kinds of mail to that address, nor mail to others', async () => {
    for (let count = 0; count < perAddressMax; count++) await queue(backend, { kind: 'sign-in' });
    await queue(backend, { kind: 'invitation' });
    await queue(backend, { kind: 'sign-in', to: 'eve@example.com' });
    expect(await allMail(backend)).toHaveLength(perAddressMax + 2);
  });

  it('ends after an hour, unless its mail still waits', async () => {
    for (let count = 0; count < perAddressMax; count++) await queue(backend);
    const [first, second] = await allMail(backend);
    const before = { createdAt: Date.now() - 61 * 60_000 };
    await backend.graph.write(async (transaction) => {
      await transaction.update('mail', first?.id ?? expect.fail(), { ...before, state: 'sent' }, { anchor: null });
      await transaction.update('mail', second?.id ?? expect.fail(), before, { anchor: null });
    });
    await queue(backend);
    await expect(queue(backend)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await allMail(backend)).toHaveLength(perAddressMax);
  });

  it('counts with both keys while the encryption key rotates', async () => {
    for (let count = 0; count < perAddressMax; count++) await queue(backend);
    const keys = { present: new Secret('6f'.repeat(32)), previous: new Secret('5e'.repeat(32)) };
    const rotated = { ...backend, secrets: openSecrets(keys) };
    await expect(queue(rotated)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('of one workspace does not delay mail of others by more than the mail that is being sent', async () => {
    const [loud, quiet] = [newId('workspace'), newId('workspace')];
    for (let count = 0; count < 100; count++) await queue(backend, { to: `loud-${count}@x.org`, workspace: loud });
    await queue(backend, { to: 'quiet-0@x.org', workspace: quiet });
    await queue(backend, { to: 'quiet-1@x.org', workspace: quiet });
    await queue(backend, { to: 'own@x.org', kind: 'sign-in' });
    const { addresses, engine } = notingEngine();
    startSender(engine);
    await expect.poll(() => addresses.length, { timeout: 10_000 }).toBe(103);
    for (const other of ['quiet-0@x.org', 'quiet-1@x.org', 'own@x.org']) {
      expect(addresses.indexOf(other)).toBeLessThan(8);
    }
  });

  it('that goes on does not let mail that came before it starve', async () => {
    const [early, late] = [newId('workspace'), newId('workspace')];
    for (let count = 0; count < 20; count++) await queue(backend, { to: `early-${count}@x.org`, workspace: early });
    let added = 0;
    const { addresses, engine } = notingEngine(async () => {
      if (added < 60) await queue(backend, { to: `late-${added++}@x.org`, workspace: late });
      return accepted;
    });
    startSender(engine);
    await expect.poll(() => addresses.length, { timeout: 10_000 }).toBe(80);
    expect(addresses.findLastIndex((to) => to.startsWith('early'))).toBeLessThan(50);
  });

  it(`of one workspace ends at ${perWorkspaceMax} waiting mails`, async () => {
    const [loud, quiet] = [newId('workspace'), newId('workspace')];
    for (let count = 0; count < perWorkspaceMax; count++) {
      await queue(backend, { to: `loud-${count}@x.org`, workspace: loud });
    }
    await expect(queue(backend, { to: 'more@x.org', workspace: loud })).rejects.toMatchObject({
      code: 'rate_limited',
      hint: expect.stringContaining('svc status'),
    });
    await queue(backend, { to: 'quiet@x.org', workspace: quiet });
  }, 60_000);

  it(`of one person in all workspaces ends at ${perAuthorMax} waiting mails`, async () => {
    const [loud, quiet] = [newId('user'), newId('user')];
    const workspaces = Array.from({ length: 20 }, () => newId('workspace'));
    const workspaceOf = (count: number) => workspaces[count % workspaces.length] ?? expect.fail();
    for (let count = 0; count < perAuthorMax; count++) {
      await queue(backend, { to: `loud-${count}@x.org`, workspace: workspaceOf(count), author: loud });
    }
    const more = { to: 'more@x.org', workspace: newId('workspace') };
    await expect(queue(backend, { ...more, author: loud })).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('in all workspaces'),
    });
    await queue(backend, { ...more, author: quiet });
    await queue(backend, { to: 'operator@x.org', workspace: workspaceOf(0) });
  }, 60_000);

  it('leaves places in the queue for people who ask for their own links', async () => {
    await backend.graph.write(async (transaction) => {
      const now = Date.now();
      for (let count = 0; count < waitingMax - ownPlaces; count++) {
        await transaction.create('mail', {
          ...{ id: newId('mail'), slot: `slot/${count}`, source: `source-${count}`, author: null, state: 'waiting' },
          ...{ turn: count, dueAt: now, content: '', attempts: 0, lastError: null, expiresAt: now, createdAt: now },
        });
      }
    });
    await expect(queue(backend, { workspace: newId('workspace') })).rejects.toMatchObject({ code: 'rate_limited' });
    await queue(backend, { kind: 'sign-in' });
  }, 60_000);
});

describe('a mail is refused before it is queued', () => {
  it.each([
    '',
    'bob',
    'bob@',
    'bob@example.com\r\nBcc: eve@example.com',
    'a b@example.com',
    `${'x'.repeat(260)}@x.org`,
  ])('to %j', async (to) => {
    await expect(queue(backend, { to })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await allMail(backend)).toEqual([]);
  });

  it('when it is too large', async () => {
    const large = { ...letter, html: new Secret('x'.repeat(60_000)) };
    await expect(queue(backend, { letter: large })).rejects.toMatchObject({ code: 'too_large' });
    expect(await allMail(backend)).toEqual([]);
  });
});

describe('a mail that is refused', () => {
  it('is given up after its time, with the last reason and without its content', async () => {
    startSender(notingEngine(() => refused('provider_a answered 503')).engine, { keptMs: 1500 });
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['failed']);
    const [mail] = await allMail(backend);
    expect(mail).toMatchObject({ content: null, lastError: 'provider_a answered 503' });
    expect(mail?.attempts).toBeGreaterThan(1);
    expect(await summariseMail(backend)).toEqual({
      ...{ waiting: 0, failed: 1, unsure: 0, oldestAt: null, lastError: 'provider_a answered 503' },
    });
    expect(backend.logged.join('')).toContain('could not send a mail, and gave up');
  });

  it('is given up at once when a repetition would be refused too', async () => {
    const { addresses, engine } = notingEngine(() => refused('no such mailbox', { isFinal: true }));
    startSender(engine);
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['failed']);
    expect(addresses).toHaveLength(1);
  });

  it('is not sent once its link has expired', async () => {
    await queue(backend, { expiresAt: Date.now() - 1 });
    const { addresses, engine } = notingEngine();
    startSender(engine);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['failed']);
    expect(addresses).toEqual([]);
    expect(await allMail(backend)).toMatchObject([{ lastError: 'its link expired before it could be sent' }]);
  });

  it('waits longer after each attempt, up to a maximum, by a time that differs', () => {
    const times = { firstRetryMs: 1000, retryMaxMs: 10_000 };
    const full = [1000, 2000, 4000, 8000, 10_000, 10_000];
    for (const [index, longest] of full.entries()) {
      const waits = Array.from({ length: 50 }, () => retryDelayMs(index + 1, times));
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(longest / 2);
      expect(Math.max(...waits)).toBeLessThanOrEqual(longest);
      expect(new Set(waits).size).toBeGreaterThan(10);
    }
    expect(retryDelayMs(100_000, times)).toBeLessThanOrEqual(10_000);
  });

  it('does not hold up others', async () => {
    const { addresses, engine } = notingEngine((to) => (to === 'bad@x.org' ? refused('no') : accepted));
    startSender(engine, { firstRetryMs: 60_000, retryMaxMs: 60_000 });
    await queue(backend, { to: 'bad@x.org' });
    await queue(backend, { to: 'good@x.org' });
    await expect.poll(states, { timeout: 15_000 }).toEqual(['waiting', 'sent']);
    expect(addresses).toEqual(['bad@x.org', 'good@x.org']);
    const { waiting, lastError, oldestAt } = await summariseMail(backend);
    expect({ waiting, lastError }).toEqual({ waiting: 1, lastError: 'no' });
    expect(oldestAt).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe('an outcome that is not known', () => {
  it('of an engine with a bug is not repeated, and the bug is logged', async () => {
    const { addresses, engine } = notingEngine(() => Promise.reject(new Error('a bug')));
    startSender(engine);
    await queue(backend);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['unsure']);
    expect(addresses).toHaveLength(1);
    expect(backend.logged.join('')).toContain('a bug');
    expect(JSON.stringify(await allMail(backend))).not.toContain('a bug"');
  });

  it('of a backend that was killed while a provider had the mail is not repeated', async () => {
    const requested = Promise.withResolvers<void>();
    let requests = 0;
    const provider = createServer(() => {
      requests += 1;
      requested.resolve();
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/send`;
    await queue(backend);
    const program = fileURLToPath(new URL('./test/send-until-killed.ts', import.meta.url));
    const child = spawn(process.execPath, [program, backend.config.PRIVATE_GRAPHDB_URL, url], { stdio: 'inherit' });
    await requested.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await states()).toEqual(['sending']);
    // As after the end of its claim.
    const [mail] = await allMail(backend);
    await backend.graph.write((transaction) =>
      transaction.update('mail', mail?.id ?? expect.fail(), { dueAt: Date.now() - 1 }, { anchor: null }),
    );
    const { addresses, engine } = notingEngine();
    startSender(engine);
    await expect.poll(states, { timeout: 15_000 }).toEqual(['unsure']);
    expect(await allMail(backend)).toMatchObject([{ content: null, lastError: expect.stringContaining('ended') }]);
    expect({ requests, addresses }).toEqual({ requests: 1, addresses: [] });
    provider.closeAllConnections();
    provider.close();
  });

  it('of a claim that another backend ended stays as that backend stored it', async () => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Outcome>();
    startSender(
      notingEngine(() => {
        begun.resolve();
        return answer.promise;
      }).engine,
    );
    await queue(backend);
    await begun.promise;
    const [mail] = await allMail(backend);
    await backend.graph.write((transaction) =>
      transaction.update('mail', mail?.id ?? expect.fail(), { state: 'unsure', content: null }, { anchor: null }),
    );
    answer.resolve(refused('too late'));
    await expect.poll(() => backend.logged.join('')).toContain('could not store the outcome of a mail');
    expect(await states()).toEqual(['unsure']);
  });
});

it('a stop interrupts an attempt, and mail that was not accepted is sent after the next start', async () => {
  const begun = Promise.withResolvers<void>();
  const waiting = notingEngine((_to, signal) => {
    begun.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(refused('interrupted'))));
  });
  const { stop } = startSender({ ...waiting.engine, deadlineMs: 60_000 });
  await queue(backend);
  await begun.promise;
  await stop();
  expect(await states()).toEqual(['waiting']);
  const { addresses, engine } = notingEngine();
  startSender(engine);
  await expect.poll(() => addresses).toEqual(['bob@example.com']);
});

it('a wake sends without waiting for the next search', async () => {
  const { addresses, engine } = notingEngine();
  const { sender } = startSender(engine, { lookEveryMs: 3_600_000 });
  await queue(backend);
  sender.wake();
  await expect.poll(() => addresses).toEqual(['bob@example.com']);
});

it('a mail whose key is missing waits for it', async () => {
  await queue(backend);
  const secrets = openSecrets({ present: new Secret('6f'.repeat(32)), previous: undefined });
  const { addresses, engine } = notingEngine();
  startSender(engine, { firstRetryMs: 60_000, retryMaxMs: 60_000 }, { ...backend, secrets });
  await expect.poll(async () => (await allMail(backend))[0]?.lastError).toContain('a key that is not given');
  expect(await states()).toEqual(['waiting']);
  expect(addresses).toEqual([]);
});

it('records of mail are removed when they no longer count, and waiting mail never', async () => {
  const day = 24 * 60 * 60_000;
  const ages = { sent: 61 * 60_000, failed: 3.1 * day, unsure: 3.1 * day, waiting: 30 * day, sending: 30 * day };
  const now = Date.now();
  for (const [state, ageMs] of Object.entries(ages)) {
    await queue(backend, { to: `${state}-old@x.org` });
    await queue(backend, { to: `${state}-new@x.org` });
    const [old, recent] = (await allMail(backend)).slice(-2);
    await backend.graph.write(async (transaction) => {
      await transaction.update('mail', old?.id ?? expect.fail(), { state, createdAt: now - ageMs }, { anchor: null });
      await transaction.update('mail', recent?.id ?? expect.fail(), { state }, { anchor: null });
    });
  }
  await forgetMail(backend.graph, now, new AbortController().signal);
  expect((await states()).sort()).toEqual(['failed', 'sending', 'sending', 'sent', 'unsure', 'waiting', 'waiting']);
});
