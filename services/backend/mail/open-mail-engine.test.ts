import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { allMail, queue } from './mail.contract.ts';
import { startMailServer, user } from './test/mail-server.ts';
import { startProvider } from './test/provider-receiver.ts';
import { rightKey } from './test/receiver.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Variables = Readonly<Record<string, string>>;

/** A backend with these variables that has sent one mail, or tried to. */
async function sendWith(env: Variables): Promise<TestBackend> {
  const backend = await openTestBackend(env);
  ends.push(() => backend.close());
  await queue(backend);
  const running = backend.mailSender.start();
  ends.push(() => running.stop());
  const attempted = async () => {
    const [mail] = await allMail(backend);
    return mail?.attempts === 1 && mail.state !== 'sending';
  };
  await expect.poll(attempted, { timeout: 5_000 }).toBe(true);
  return backend;
}

async function receiver<Started extends { stop(): Promise<void> }>(starting: Promise<Started>): Promise<Started> {
  const started = await starting;
  ends.push(() => started.stop());
  return started;
}

const from = { EMAIL_FROM: 'mail@example.org', EMAIL_FROM_NAME: 'The Team' };

it('EMAIL_PROVIDER=log writes recipient, subject and link to the log', async () => {
  const backend = await sendWith({});
  const lines = backend.logged
    .map((line) => JSON.parse(line))
    .filter(({ name, level }) => name === 'mail' && level === 'info');
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ to: 'bob@example.com', subject: 'Invitation to the workspace “Acme”' },
      link: 'https://app.example.com/sign-in#token=4pqZ7hT2wk',
    }),
  ]);
});

describe('a provider gets', () => {
  it('PROVIDER_A_API_KEY, EMAIL_FROM and EMAIL_FROM_NAME at PROVIDER_A_URL', async () => {
    const provider = await receiver(startProvider('provider_a'));
    await sendWith({
      ...from,
      EMAIL_PROVIDER: 'provider_a',
      PROVIDER_A_URL: provider.url,
      PROVIDER_A_API_KEY: rightKey,
    });
    expect(provider.received.map(({ content }) => JSON.parse(content))).toEqual([
      {
        ...{ from: 'mail@example.org', fromName: 'The Team', to: 'bob@example.com' },
        ...{
          subject: expect.stringContaining('Acme'),
          text: expect.stringContaining('#token='),
          html: expect.any(String),
        },
      },
    ]);
  });

  it('PROVIDER_B_API_KEY and EMAIL_FROM without a name at PROVIDER_B_URL', async () => {
    const provider = await receiver(startProvider('provider_b'));
    await sendWith({
      ...from,
      EMAIL_PROVIDER: 'provider_b',
      PROVIDER_B_URL: provider.url,
      PROVIDER_B_API_KEY: rightKey,
    });
    const [mail] = provider.received.map(({ content }) => JSON.parse(content));
    expect(mail).toMatchObject({ from: 'mail@example.org' });
    expect(mail).not.toHaveProperty('fromName');
  });

  it('an attempt of PROVIDER_A_TIMEOUT_SECONDS', async () => {
    const provider = await receiver(startProvider('provider_a'));
    provider.behave('silent');
    const backend = await sendWith({
      ...{ ...from, EMAIL_PROVIDER: 'provider_a', PROVIDER_A_URL: provider.url, PROVIDER_A_API_KEY: rightKey },
      PROVIDER_A_TIMEOUT_SECONDS: '1',
    });
    expect(await allMail(backend)).toMatchObject([{ lastError: 'provider_a did not answer within 1 s' }]);
  });
});

describe('a mail server', () => {
  it.each(['starttls', 'implicit'] as const)(
    'at SMTP_HOST and SMTP_PORT, with SMTP_TLS=%s, gets mail of SMTP_USER',
    async (tls) => {
      const server = await receiver(startMailServer({ tls }));
      const folder = await mkdtemp(join(tmpdir(), 'svc-mail-'));
      ends.push(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, 'ca.pem'), server.ca);
      const at = { EMAIL_PROVIDER: 'smtp', SMTP_HOST: server.host, SMTP_PORT: String(server.port), SMTP_TLS: tls };
      const login = { SMTP_USER: user, SMTP_PASSWORD: rightKey, SMTP_CA_PATH: join(folder, 'ca.pem') };
      await sendWith({ ...from, ...at, ...login });
      expect(server.sessions).toEqual([{ secure: true, user }]);
      expect(server.received).toMatchObject([{ from: 'The Team <mail@example.org>', to: 'bob@example.com' }]);
    },
  );

  it('with SMTP_TLS=none and no user', async () => {
    const server = await receiver(startMailServer({ tls: 'none', hasLogin: false }));
    const at = { EMAIL_PROVIDER: 'smtp', SMTP_HOST: server.host, SMTP_PORT: String(server.port), SMTP_TLS: 'none' };
    await sendWith({ ...from, ...at });
    expect(server.sessions).toEqual([{ secure: false, user: undefined }]);
  });

  it('with an SMTP_CA_PATH that cannot be read stops the boot, by name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-mail-'));
    ends.push(() => rm(folder, { recursive: true }));
    const path = join(folder, 'none.pem');
    const env = { ...from, EMAIL_PROVIDER: 'smtp', SMTP_HOST: 'mail.example.com', SMTP_CA_PATH: path };
    await expect(openTestBackend(env)).rejects.toMatchObject({
      code: 'unavailable',
      message: `SMTP_CA_PATH "${path}" cannot be read: it does not exist.`,
    });
  });
});
