import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { signInLink } from './letters.ts';
import { type SmtpOptions, smtpEngine } from './smtp-engine.ts';
import { type MailServer, type MailServerOptions, selfSigned, startMailServer, user } from './test/mail-server.ts';
import { rightKey, sender } from './test/receiver.ts';

const login = { user, password: new Secret(rightKey) };
let server: MailServer | undefined;
afterEach(() => server?.stop());

async function sendTo(options: MailServerOptions, changes: Partial<SmtpOptions> = {}) {
  server = await startMailServer(options);
  const { host, port, ca } = server;
  const usual = { host, port, ca, login, tls: options.tls ?? 'starttls', from: sender, fromName: 'Us' } as const;
  const engine = smtpEngine({ ...usual, deadlineMs: 2000, ...changes });
  const letter = signInLink({ link: new Secret('https://app.example.com/#token=x'), expiresAt: Date.now() });
  const mail = { id: newId('mail'), to: 'bob@example.com', letter };
  const outcome = await engine.send(mail, AbortSignal.timeout(engine.deadlineMs));
  return { outcome, server, mail };
}

it.each([
  ['starttls', true],
  ['implicit', true],
  ['none', false],
] as const)('with tls: %s the mail server accepts mail of the user', async (tls, secure) => {
  const { outcome, server: at, mail } = await sendTo({ tls });
  expect(outcome).toEqual({ kind: 'accepted' });
  expect(at.sessions).toEqual([{ secure, user }]);
  expect(at.received).toMatchObject([{ id: mail.id, from: 'Us <svc@example.com>', to: 'bob@example.com' }]);
  expect(at.received[0]?.headers).toEqual(expect.arrayContaining(['Date', 'Message-ID', 'Auto-Submitted']));
});

it('without a user it sends without a login', async () => {
  const { outcome, server: at } = await sendTo({ hasLogin: false }, { login: undefined });
  expect(outcome).toEqual({ kind: 'accepted' });
  expect(at.sessions).toEqual([{ secure: true, user: undefined }]);
});

it.each<[string, MailServerOptions, Partial<SmtpOptions>, RegExp]>([
  ['of an unknown authority (starttls)', {}, { ca: undefined }, /failed: it has a self-signed certificate$/],
  ['of an unknown authority (implicit)', { tls: 'implicit' }, { ca: undefined }, /it has a self-signed certificate$/],
  ['of another authority', {}, { ca: selfSigned().cert }, /it has a self-signed certificate$/],
  ['for another name', { certificateFor: 'DNS:mail.example.com' }, {}, /its certificate is for another name$/],
])('a certificate %s is refused before anything is sent', async (_, options, changes, reason) => {
  const { outcome, server: at } = await sendTo(options, changes);
  expect(outcome).toEqual({ kind: 'refused', reason: expect.stringMatching(reason), isFinal: false });
  expect(at.received).toEqual([]);
});

it('with tls: starttls nothing is sent to a mail server that offers no encryption', async () => {
  const { outcome, server: at } = await sendTo({ tls: 'none' }, { tls: 'starttls' });
  expect(outcome).toMatchObject({ kind: 'refused', isFinal: false });
  expect(at.received).toEqual([]);
  expect(at.sessions).toEqual([]);
});

it('with a user nothing is sent to a mail server without a login', async () => {
  const { outcome, server: at } = await sendTo({ hasLogin: false });
  expect(outcome).toMatchObject({ kind: 'refused', isFinal: false });
  expect(at.received).toEqual([]);
});

it('ends at its deadline, and leaves no connection', async () => {
  const closed = Promise.withResolvers<void>();
  const mute = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .on('close', () => closed.resolve())
      .resume(),
  );
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const { port } = mute.address() as { port: number };
  const { outcome } = await sendTo({}, { port, deadlineMs: 100 });
  expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringContaining('did not answer within 0.1 s') });
  await closed.promise;
  mute.close();
});
