import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ping, send } from '../../services/remote-mcp/test/raw.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { certificateAt } from '../parts/test/certificate-at.ts';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import { issueCertificate, makeCertificate } from '../runtime-elsewhere/test/certificate.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { type Agent, connectAgent } from './agent.ts';
import { failedDuring } from './failed-during.ts';
import { freePorts } from './free-ports.ts';
import { hasNatsServer, Platform, startTimeoutMs } from './platform.ts';
import { publicSettings } from './public-settings.ts';

// Under load, a rolling restart takes longer.
vi.setConfig({ testTimeout: 180_000 });

/** Of the platform, and of the address for keys alone. */
const names = 'DNS:localhost,IP:127.0.0.1';
const parts = ['backend', 'remote-mcp', 'remote-mcp-2', 'runtime', 'frontend', 'nats', 'caddy'];

/** The status of a faulty registration of an agent, which counts by the client's network. */
async function registerFrom(base: string, options: http.RequestOptions): Promise<number> {
  const { request } = base.startsWith('https:') ? https : http;
  const headers = { ...options.headers, 'content-type': 'application/json', 'content-length': 2 };
  const url = new URL('/connect/register', base);
  // Caddy listens on IPv4.
  const asking = request(url, { ...options, headers, method: 'POST', family: 4, agent: false }).end('{}');
  const [response] = (await once(asking, 'response')) as [http.IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

/** A platform of real programs under one host name, with a certificate of its own authority. */
describe.skipIf(!hasNatsServer || !hasCaddy)('through Caddy', () => {
  const known = getCACertificates('default');
  let platform: Platform;
  let origin: string;
  let ca: string;
  let url: string;
  let keysUrl: string;
  let key: string;
  let agent: Agent;

  beforeAll(async () => {
    const [https = 0, http = 0] = await freePorts(2);
    const files = { tls: 'files', cert: 'secrets/public.pem', key: 'secrets/public.key' };
    const open = publicSettings({ host: 'localhost', ...files, httpsPort: https, httpPort: http });
    keysUrl = `https://127.0.0.1:${https}/mcp`;
    const settings = (yaml: string) => replaceScalar(open(yaml), ['publicUrls', 'keys'], keysUrl);
    platform = await Platform.init({ topology: 'distributed', settings, replicas: { 'remote-mcp': 2 } });
    origin = `https://localhost:${https}`;
    makeCertificate(platform.folder, 'ca');
    ca = join(platform.folder, 'ca.pem');
    await useCertificate('first');
    await platform.svc('up');
    url = `${origin}/mcp?skillIds=${await platform.addEcho()}`;
    key = await platform.addKey('agent');
    // NODE_EXTRA_CA_CERTS does the same when a process starts.
    setDefaultCACertificates([...known, await readFile(ca, 'utf8')]);
    agent = await connectAgent(url, key);
  }, startTimeoutMs);
  afterAll(async () => {
    setDefaultCACertificates(known);
    await agent.client.close();
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  async function useCertificate(name: string): Promise<void> {
    issueCertificate(platform.folder, name, { names, by: 'ca' });
    for (const kind of ['pem', 'key']) {
      await copyFile(
        join(platform.folder, `${name}.${kind}`),
        join(platform.installation.secretsDir, `public.${kind}`),
      );
    }
  }

  const servedName = async () => (await certificateAt(Number(new URL(origin).port), 'localhost')).subject.CN;

  test('people, programs and agents get one address, at which tools are called', async () => {
    const seen = await platform.svc('status');
    expect(seen.urls).toMatchObject({ app: origin, api: origin, mcp: `${origin}/mcp` });
    expect(seen.services.map(({ name, health }: { name: string; health: string }) => `${name} ${health}`)).toEqual(
      parts.map((name) => `${name} green`),
    );
    expect(await agent.text('echo', { message: 'over https' })).toBe('Echo: over https');
  });

  test('keys have a name of their own, at which no address of OAuth is found', async () => {
    expect((await platform.svc('status')).urls.keys).toBe(keysUrl);
    const places = ['oauth-protected-resource/mcp', 'oauth-protected-resource', 'oauth-authorization-server'];
    const found = async (at: string) =>
      await Promise.all(places.map(async (place) => (await fetch(new URL(`/.well-known/${place}`, at))).status));
    expect(await found(keysUrl)).toEqual([404, 404, 404]);
    expect(await found(origin)).toEqual([200, 200, 200]);
    const refused = await send(keysUrl, { body: ping });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="API keys"']);
    const own = await connectAgent(`${keysUrl}${new URL(url).search}`, key);
    expect(await own.text('echo', { message: 'with a key' })).toBe('Echo: with a key');
    await own.client.close();
  });

  test('a program of this machine names no other client to the backend, and Caddy does', async () => {
    const direct = `http://127.0.0.1:${platform.ports.backend}`;
    const statuses: number[] = [];
    for (let i = 0; i < 61; i++) {
      const forged = { 'x-forwarded-for': `198.51.100.${i}`, 'svc-front': `${i % 2 === 0 ? '' : 'f'.repeat(64)}` };
      statuses.push(await registerFrom(direct, { headers: forged }));
    }
    expect([...new Set(statuses.slice(0, 60)), statuses[60]]).toEqual([400, 429]);
    // Through Caddy it is this machine, whatever it says. Another client of Caddy has its own allowance.
    const forged = { 'x-forwarded-for': '198.51.100.99' };
    expect(await registerFrom(origin, { headers: forged })).toBe(429);
    expect(await registerFrom(origin, { localAddress: '127.0.0.2' })).toBe(400);
  });

  test('svc keys test works there with the trusted authority', async () => {
    const test = (env: Record<string, string>) => platform.run(['keys', 'test', '--json'], { env });
    const trusting = await test({ SVC_API_KEY: key, NODE_EXTRA_CA_CERTS: ca });
    expect([trusting.code, JSON.parse(trusting.stdout)]).toMatchObject([0, { ok: true }]);
    const { code, stdout } = await test({ SVC_API_KEY: key });
    const { rungs, cause } = JSON.parse(stdout);
    expect([code, rungs.at(-1)]).toMatchObject([4, { name: 'TLS', ok: false }]);
    expect(cause.hint).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('the page comes with addresses that a browser reaches it and the backend at', async () => {
    const page = await fetch(origin);
    expect(page.headers.get('content-security-policy')).toContain(
      `connect-src ${origin} ${origin.replace(/^http/, 'ws')};`,
    );
    expect(await page.text()).toContain(
      `{"PUBLIC_BACKEND_URL":"${origin}","PUBLIC_MCP_URL":"${origin}/mcp","PUBLIC_MCP_KEYS_URL":"${keysUrl}"}`,
    );
    const token = operatorTokens(platform.installation, undefined)();
    const question = { key: token, headers: { origin }, body: { query: '{ __typename }' } };
    const { status, body } = await send(`${origin}/graphql`, question);
    expect([status, body]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  test('svc up applies a renewed certificate, and restarts nothing else', async () => {
    expect(await servedName()).toBe('first');
    await useCertificate('second');
    expect(await platform.changedBy(() => platform.svc('up'))).toEqual(['caddy']);
    expect(await servedName()).toBe('second');
    // The earlier connection may have ended with the restart, which the client learns only by a call.
    await agent.works('renewed');
    expect(agent.sessionsBegun()).toBe(1);
  });

  test('without the host name each service has its own address again, and with it they share one', async () => {
    const { definitionFile } = platform.installation;
    const yaml = await readFile(definitionFile, 'utf8');
    const without = yaml.replace(/^ {2}(host|cert|key): .*$/gm, '  $1: null').replace('  tls: files', '  tls: none');
    await writeFile(definitionFile, without);
    await platform.svc('up');
    const { urls } = await platform.svc('status');
    expect(urls.mcp).toBe(`http://localhost:${platform.ports['remote-mcp']}/mcp`);
    expect((await fetch(`http://127.0.0.1:${platform.ports['remote-mcp']}/ready`)).status).toBe(200);
    await expect(fetch(origin)).rejects.toThrow();
    await writeFile(definitionFile, yaml);
    await platform.svc('up');
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    // The shared address of the remote-mcps became the address of one of them. Its previous owner released it first.
    const restarts = [...(await platform.services())].map(([name, service]) => [name, service.restarts]);
    expect(restarts).toEqual(parts.map((name) => [name, 0]));
  });

  describe('under load', () => {
    const failedIn = (work: () => Promise<unknown>) => failedDuring(work, { url, key, agents: 6, everyMs: 25 });
    const expectContinued = async (message: string) => {
      expect(await agent.text('echo', { message })).toBe(`Echo: ${message}`);
      expect(agent.sessionsBegun()).toBe(1);
    };

    test('no call fails during a rolling restart', async () => {
      platform.edit('sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 600000');
      let changed: readonly string[] = [];
      const failures = await failedIn(async () => {
        changed = await platform.changedBy(() => platform.svc('up'));
      });
      expect(changed).toEqual(['remote-mcp', 'remote-mcp-2']);
      expect(failures).toEqual([]);
      await expectContinued('after all');
    });

    test.each(['remote-mcp', 'remote-mcp-2'])(
      '%s, killed: failed calls are named, and sessions continue',
      async (name) => {
        let backAt = 0;
        const failures = await failedIn(async () => {
          await platform.killService(name);
          backAt = performance.now();
        });
        const named = expect.stringMatching(/^50[23] .*(was not carried out|may have been carried out or not)/);
        for (const { outcome, told } of failures) expect([outcome, told]).toEqual(['refused', named]);
        expect(failures.filter(({ begun }) => begun > backAt)).toEqual([]);
        await expectContinued(name);
      },
    );

    test('Caddy, killed, is back, and sessions go on', async () => {
      await platform.killService('caddy');
      await expectContinued('front');
    });
  });
});
