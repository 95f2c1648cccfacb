import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openGraph } from '../../services/backend/graph/open-graph.ts';
import { invitation } from '../../services/backend/mail/letters.ts';
import { queueMail } from '../../services/backend/mail/queue-mail.ts';
import { type MailServer, startMailServer, user } from '../../services/backend/mail/test/mail-server.ts';
import { rightKey } from '../../services/backend/mail/test/receiver.ts';
import { openSecrets } from '../../services/backend/secrets/secrets.ts';
import { newId } from '../../services/contracts/ids.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs, hookTimeout: startTimeoutMs });

const link = 'https://app.example.com/sign-in#token=Zk3mQ8vX1s';
let server: MailServer;
let platform: Platform;
const secretFile = (name: string) => join(platform.installation.secretsDir, name);

beforeAll(async () => {
  server = await startMailServer();
  const smtp = `{ host: ${server.host}, port: ${server.port}, user: ${user}, ca: ca.pem }`;
  platform = await Platform.init({
    settings: (yaml) =>
      yaml.replace(/^mail:\n(?:(?: .*)?\n)*/m, `mail: { provider: smtp, from: svc@example.com, smtp: ${smtp} }\n`),
  });
  writeFileSync(join(platform.installation.dir, 'ca.pem'), server.ca);
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await server?.stop();
});

/** As a change of the platform queues it. */
async function queue(to: string): Promise<void> {
  const present = new Secret(readFileSync(secretFile('encryption.key'), 'utf8').trim());
  const secrets = openSecrets({ present, previous: undefined });
  const expiresAt = Date.now() + 3_600_000;
  const letter = invitation({ workspace: 'Acme', inviter: 'Ann', link: new Secret(link), expiresAt });
  const graph = await openGraph({ url: `file:${join(platform.installation.dataDir, 'graph.sqlite')}` });
  const mail = { kind: 'invitation', to, letter, workspace: newId('workspace'), author: null, expiresAt } as const;
  await graph.write((transaction) => queueMail({ secrets }, transaction, mail));
  await graph.close();
}

test('without the password neither the check nor the start goes on, and both name its file', async () => {
  const missing = `secrets/mail.key is missing, and mail.smtp.user: ${user} in svc.yaml needs it.`;
  for (const command of [['config', 'check'], ['up']]) {
    const { code, stderr } = await platform.run(command);
    expect(code).not.toBe(0);
    expect(stderr).toContain(missing);
    expect(stderr).toContain("Write that user's password into this file.");
  }
});

test('a running platform delivers a mail once, over TLS and as its user, and logs neither address nor link', async () => {
  writeFileSync(secretFile('mail.key'), `${rightKey}\n`, { mode: 0o600 });
  await platform.svc('config', 'check');
  await platform.up();
  await queue('bob@example.com');
  await expect.poll(() => server.received.length, { timeout: 30_000 }).toBe(1);
  expect(server.received).toMatchObject([
    { from: 'The Service Team <svc@example.com>', to: 'bob@example.com', content: expect.stringContaining(link) },
  ]);
  expect(server.sessions).toEqual([{ secure: true, user }]);
  const { mail, state } = await platform.svc('status');
  expect(mail).toEqual({ waiting: 0, failed: 0, unsure: 0, oldestAt: null, lastError: null });
  expect(state).toBe('running');
  const { stdout } = await platform.run(['status']);
  expect(stdout).not.toMatch(/^mail:/m);
  const logs = (await platform.run(['logs', '--tail', '1000'])).stdout;
  for (const hidden of ['bob@example.com', 'Zk3mQ8vX1s', rightKey]) expect(logs).not.toContain(hidden);
});

test('an outage of mail stops nothing else, and svc status names it', async () => {
  server.behave('451', '451');
  await queue('eve@example.com');
  await expect.poll(async () => (await platform.svc('status')).mail.lastError, { timeout: 30_000 }).not.toBeNull();
  const { stdout, code } = await platform.run(['status']);
  expect(stdout).toMatch(
    /^mail: 1 mail waits to be sent, the oldest for \d+ s\. The last error: 127\.0\.0\.1:\d+ answered 451[ \d.]* to RCPT\s+TO\.$/m,
  );
  expect(code).toBe(0);
});
