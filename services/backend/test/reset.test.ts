import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../stack/test/until.ts';
import { type MailServer, startMailServer } from '../mail/test/mail-server.ts';
import { Browser } from './browser.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let mailServer: MailServer;

beforeAll(async () => {
  mailServer = await startMailServer({ tls: 'none', hasLogin: false });
  backend = await startTestBackend({
    ...{ EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'svc@example.com', SMTP_TLS: 'none' },
    ...{ SMTP_HOST: mailServer.host, SMTP_PORT: String(mailServer.port), TRUSTED_PROXIES: '127.0.0.1' },
  });
  for (const name of ['ann', 'bob', 'cleo']) {
    await backend.must(
      `mutation { createWorkspace(input: { name: "${name}", ownerEmail: "${name}@example.com" }) { id } }`,
    );
  }
});
afterAll(async () => {
  await backend.stop();
  await mailServer.stop();
});

let networks = 0;
async function reset(email: unknown, from = `198.51.100.${networks++}`) {
  const since = performance.now();
  const answer = await new Browser(backend.url, { 'x-forwarded-for': from }).post('/account/reset', { email });
  return { status: answer.status, text: answer.text, ms: performance.now() - since };
}

const mailTo = (address: string) => mailServer.received.filter(({ to }) => to === address);

describe('a link by mail', () => {
  test('signs its person in', async () => {
    expect(await reset(' ANN@example.com')).toMatchObject({ status: 204, text: '' });
    await until(() => mailTo('ann@example.com').length === 1);
    const [, token] = /sign-in#token=([\w.-]+)/.exec(mailTo('ann@example.com')[0]?.content ?? '') ?? [];
    const browser = new Browser(backend.url);
    expect((await browser.post('/account/link', { token })).body.user.email).toBe('ann@example.com');
    expect(backend.logged.join('')).not.toContain(token);
  });

  test('is offered by the sign-in page', async () => {
    expect((await new Browser(backend.url).post('/account/ways', {})).body.mail).toBe(true);
  });

  test('is not sent to an unknown address, and the answer is the same, after the same time', async () => {
    const [known, unknown] = [await reset('bob@example.com'), await reset('nobody@example.com')];
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
    for (const { ms } of [known, unknown]) expect(ms).toBeGreaterThan(290);
    await until(() => mailTo('bob@example.com').length === 1);
    expect(mailTo('nobody@example.com')).toEqual([]);
  });

  test('is sent five times an hour at most, and the answer stays the same', async () => {
    for (let i = 0; i < 8; i++) expect((await reset('cleo@example.com')).status).toBe(204);
    await until(() => mailTo('cleo@example.com').length === 5);
    expect(backend.logged.join('')).toContain('"isQueued":false');
  });

  test('ends no link that an operator made before', async () => {
    const query = 'mutation { createSignInLink(email: "dora@example.com") { url } }';
    await backend.must('mutation { createWorkspace(input: { name: "dora", ownerEmail: "dora@example.com" }) { id } }');
    const { createSignInLink } = await backend.must(query);
    for (let i = 0; i < 12; i++) expect((await reset('dora@example.com')).status).toBe(204);
    const token = new URL(createSignInLink.url).hash.slice('#token='.length);
    expect((await new Browser(backend.url).post('/account/link', { token })).status).toBe(200);
  });

  test('is refused to a network that asks for many', async () => {
    const statuses = [];
    for (let i = 0; i < 11; i++) statuses.push((await reset('dan@example.com', '203.0.113.5')).status);
    expect(statuses).toEqual([...Array(10).fill(204), 429]);
  });

  test.each([
    ['that is no address', 'ann'],
    ['that is long', `${'x'.repeat(260)}@example.com`],
    ['that is a list', ['ann@example.com']],
    ['with another line', 'ann@example.com\nbcc: eve@example.com'],
  ])('is refused for a text %s', async (_what, email) => {
    expect((await reset(email)).status).toBe(400);
  });
});
