import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import { createMcpServerMutation, removeMcpServerMutation } from '../../client/generated/operations.ts';
import { startTwoHomes, type TwoHomes } from '../homes.ts';
import { startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { type Answering, type Lies, sendJson, startHostileProvider } from './hostile-provider.ts';
import { memberClient } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { startVictim, type Victim } from './victim.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * An MCP server of workspace A and its authorization server are hostile. The operator allows their address, and no other
 * address of this machine. Whatever they answer, the platform asks no other address, keeps no faulty token, and shows
 * neither their words nor a token.
 */
const secret = 'token-that-nobody-may-read-8c21f0';
const words = 'words-of-the-provider-5b1e';

const tokens =
  (fields: object): Answering =>
  (response) =>
    sendJson(response, { access_token: secret, token_type: 'Bearer', expires_in: 600, ...fields });

/** Writes until the platform leaves. */
const writeForever = (response: ServerResponse) => {
  response.on('error', () => undefined).writeHead(200, { 'content-type': 'application/json' });
  const writing = setInterval(() => response.write(' '.repeat(65_536)), 1);
  response.once('close', () => clearInterval(writing));
};

/** Sends one byte now and then, so that no pause is long. */
const drip = (response: ServerResponse) => {
  response.on('error', () => undefined).writeHead(200, { 'content-type': 'application/json' });
  const writing = setInterval(() => response.write(' '), 300);
  response.once('close', () => clearInterval(writing));
};

interface Row extends Lies {
  readonly code: string;
  readonly says: RegExp;
}

const beforeThePersonGoes: Readonly<Record<string, Row>> = {
  'challenge-inside': {
    challenge: ({ forbidden }) => `${forbidden}/metadata`,
    ...{ code: 'forbidden', says: /leads to .*::1.*loopback/ },
  },
  'server-inside': {
    resource: ({ forbidden }) => ({ authorization_servers: [forbidden] }),
    ...{ code: 'forbidden', says: /leads to .*loopback/ },
  },
  'server-in-a-cloud': {
    resource: () => ({ authorization_servers: ['https://169.254.169.254/latest'] }),
    ...{ code: 'forbidden', says: /169\.254\.169\.254, which is a link-local/ },
  },
  'server-in-the-network': {
    resource: () => ({ authorization_servers: ['https://10.0.0.1'] }),
    ...{ code: 'forbidden', says: /10\.0\.0\.1, which is a private/ },
  },
  'server-as-a-number': {
    resource: () => ({ authorization_servers: ['https://2852039166/'] }),
    ...{ code: 'forbidden', says: /169\.254\.169\.254, which is a link-local/ },
  },
  'server-of-the-platform': {
    resource: ({ url }) => ({ authorization_servers: [url.replace('127.0.0.1', 'localhost.localdomain')] }),
    ...{ code: 'unavailable', says: /not valid: its field "authorization_servers.0"/ },
  },
  'redirect-inside': {
    metadata: (response) => response.writeHead(302, { location: 'http://[::1]:1/metadata' }).end(),
    // Without metadata, the MCP server would be its own authorization server.
    ...{ code: 'unavailable', says: /authorization server of .* was not found/ },
  },
  'registration-inside': {
    provider: ({ forbidden }) => ({ registration_endpoint: `${forbidden}/register` }),
    ...{ code: 'forbidden', says: /leads to .*loopback/ },
  },
  'metadata-of-another': {
    resource: () => ({ resource: 'https://victim.example/mcp' }),
    ...{ code: 'unavailable', says: /describes another resource/ },
  },
  'metadata-of-a-longer-host': {
    resource: ({ url }) => ({ resource: url.replace('127.0.0.1', '127.0.0.1.victim.example') }),
    ...{ code: 'unavailable', says: /describes another resource/ },
  },
  'issuer-of-another': {
    provider: () => ({ issuer: 'https://victim.example' }),
    ...{ code: 'unavailable', says: /names another issuer/ },
  },
  'page-as-a-script': {
    provider: () => ({ authorization_endpoint: 'javascript:alert(document.cookie)' }),
    ...{ code: 'unavailable', says: /its field "authorization_endpoint"/ },
  },
  'page-by-http': {
    provider: () => ({ authorization_endpoint: 'http://victim.example/authorize' }),
    ...{ code: 'unavailable', says: /its field "authorization_endpoint"/ },
  },
  'page-with-a-password': {
    provider: () => ({ authorization_endpoint: 'https://:secret@victim.example/authorize' }),
    ...{ code: 'unavailable', says: /its field "authorization_endpoint"/ },
  },
  'server-with-hidden-letters': {
    resource: () => ({ authorization_servers: ['https://victim.example/\u202egnp.exe'] }),
    ...{ code: 'unavailable', says: /its field "authorization_servers.0"/ },
  },
  'server-with-a-newline': {
    resource: () => ({ authorization_servers: ['https://victim.\nexample/'] }),
    ...{ code: 'unavailable', says: /its field "authorization_servers.0"/ },
  },
  'without-pkce': {
    provider: () => ({ code_challenge_methods_supported: ['plain'] }),
    ...{ code: 'unsupported', says: /does not support PKCE/ },
  },
  silent: {
    metadata: () => undefined,
    ...{ code: 'unavailable', says: /could not be reached/ },
  },
  dripping: {
    metadata: drip,
    ...{ code: 'unavailable', says: /could not be reached/ },
  },
  endless: {
    metadata: writeForever,
    ...{ code: 'unavailable', says: /could not be reached/ },
  },
};

const atTheToken: Readonly<Record<string, Row>> = {
  'token-inside': {
    provider: ({ forbidden }) => ({ token_endpoint: `${forbidden}/token` }),
    ...{ code: 'forbidden', says: /leads to .*loopback/ },
  },
  'token-moved': {
    token: (response) => response.writeHead(307, { location: 'http://[::1]:1/token' }).end(),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'token-in-words': {
    token: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<b>${words} ${secret}</b>`),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'token-of-lines': {
    token: tokens({ access_token: `${secret}\r\nx-injected: 1` }),
    ...{ code: 'unavailable', says: /too long, or of another type/ },
  },
  'token-as-an-object': {
    token: tokens({ access_token: { secret } }),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'token-without-a-bearer': {
    token: tokens({ token_type: 'mac' }),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'token-of-9000': {
    token: tokens({ access_token: secret + 'x'.repeat(9000) }),
    ...{ code: 'unavailable', says: /too long, or of another type/ },
  },
  'refresh-of-9000': {
    token: tokens({ refresh_token: secret + 'x'.repeat(9000) }),
    ...{ code: 'unavailable', says: /too long, or of another type/ },
  },
  'lifetime-of-words': {
    token: tokens({ expires_in: words }),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'identity-of-another': {
    token: tokens({ id_token: `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.` }),
    ...{ code: 'forbidden', says: /is not valid/ },
  },
  'refused-in-words': {
    token: (response) => sendJson(response, { error: words, error_description: `${words} ${secret}` }, 400),
    ...{ code: 'forbidden', says: /refused it \(another error\)/ },
  },
  'token-endless': { token: writeForever, code: 'unavailable', says: /could not be reached/ },
  'token-dripping': { token: drip, code: 'unavailable', says: /could not be reached/ },
};

const ours: Readonly<Record<string, Lies>> = {
  good: { token: tokens({}) },
  other: { token: tokens({}) },
  slow: { metadata: () => undefined },
  quick: { token: tokens({}) },
  quoting: {
    token: tokens({}),
    mcp: (response, authorization) =>
      response
        .writeHead(401, {
          'www-authenticate': `Bearer resource_metadata="https://x.example/${authorization.slice(7)}", scope="${authorization.slice(7)}"`,
        })
        .end(`you sent ${authorization} ${Buffer.from(authorization).toString('base64')}`),
  },
};

let homes: TwoHomes;
let victim: Victim;
let provider: Awaited<ReturnType<typeof startHostileProvider>>;
/** The owner of A, in one browser session. */
let owner: BackendClient;
/** Another admin of A. */
let other: BackendClient;
let count = 0;

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
const ask = (by: BackendClient, text: string, variables: Readonly<Record<string, unknown>>): Promise<any> =>
  by.send({ text }, variables);

interface Begun {
  readonly id: string;
  readonly server: string;
  readonly workspace: string;
}

/** Adds the MCP server of an attack, and waits for its integration. */
async function addAttack(name: string, workspace = homes.a.workspace): Promise<Begun> {
  const input = { name: `${name}-${count++}`, launch: { url: provider.placesOf(name).url } };
  const server = (await homes.backend.send(createMcpServerMutation, { workspace, input })).createMcpServer.id;
  const query = 'query ($w: ID!, $s: ID!) { workspace(id: $w) { mcpServer(id: $s) { integration { id } } } }';
  let id = '';
  await until(async () => {
    const { workspace: seen } = await ask(homes.backend, query, { w: workspace, s: server });
    id = seen.mcpServer.integration?.id ?? '';
    return id !== '';
  });
  return { id, server, workspace };
}

const begin = async ({ id, workspace }: Begun, by = owner): Promise<URL> =>
  new URL(
    (await ask(by, 'mutation ($w: ID!, $id: ID!) { beginIntegration(workspace: $w, id: $id) }', { w: workspace, id }))
      .beginIntegration,
  );

const finish = async (answer: URLSearchParams, by = owner) =>
  (await ask(by, 'mutation ($a: String!) { finishIntegration(answer: $a) { state } }', { a: String(answer) }))
    .finishIntegration.state;

/** The answer that the authorization server gives the browser. */
function answerTo(address: URL, more: Readonly<Record<string, string>> = {}): URLSearchParams {
  const iss = address.href.slice(0, address.href.indexOf('/authorize'));
  return new URLSearchParams({ code: 'the-code', state: address.searchParams.get('state') ?? '', iss, ...more });
}

/** Everything that an admin sees of the workspace, and everything that the platform has logged. */
async function seenBy({ id, server, workspace }: Begun): Promise<string> {
  const query = `query ($w: ID!, $id: ID!, $s: ID!) { workspace(id: $w) {
    integration(id: $id) { state issuer clientId scopes wantedScopes problem { code message repair } }
    mcpServer(id: $s) { status stderr reason { code message repair } launch { url headers { name value } } }
    activity { nodes { action subjectName changes } }
  } }`;
  const seen = await ask(homes.backend, query, { w: workspace, id, s: server });
  const { stdout, stderr } = await homes.platform.run(['logs', '--lines', '100000']);
  return JSON.stringify(seen) + stdout + stderr;
}

async function expectNothingKept(begun: Begun): Promise<void> {
  const seen = await seenBy(begun);
  expect(seen).toContain('"state":"needs_authorization"');
  for (const hidden of [secret, words, Buffer.from(secret).toString('base64')]) expect(seen).not.toContain(hidden);
  expect(provider.reached.splice(0)).toEqual([]);
}

const remove = ({ server: id, workspace }: Begun) => homes.backend.send(removeMcpServerMutation, { workspace, id });

onEachTopology(
  (topology) => {
    beforeAll(async () => {
      provider = await startHostileProvider({ ...beforeThePersonGoes, ...atTheToken, ...ours });
      homes = await startTwoHomes({
        topology,
        settings: (yaml) => yaml.replace('allowedAddresses: []', 'allowedAddresses: [127.0.0.1]'),
      });
      const { platform, backend, a } = homes;
      victim = await startVictim(homes);
      const text =
        'mutation ($w: ID!) { addMember(workspace: $w, input: { email: "other@example.com", role: admin }) { id } }';
      await ask(backend, text, { w: a.workspace });
      [owner, other] = [await memberClient(platform, a.owner.email), await memberClient(platform, 'other@example.com')];
    }, startTimeoutMs);

    afterAll(async () => {
      provider?.close();
      await homes?.platform[Symbol.asyncDispose]();
    }, startTimeoutMs);

    test.each(Object.entries(beforeThePersonGoes))('%s: the person is sent nowhere', async (name, { code, says }) => {
      const begun = await addAttack(name);
      const before = performance.now();
      const error = await begin(begun).catch((thrown) => thrown);
      expect(error).toMatchObject({ code, message: expect.stringMatching(says) });
      expect(performance.now() - before).toBeLessThan(9000);
      await expectNothingKept(begun);
      await remove(begun);
    });

    test.each(Object.entries(atTheToken))('%s: no token is kept', async (name, { code, says }) => {
      const begun = await addAttack(name);
      const answer = answerTo(await begin(begun));
      const before = performance.now();
      const error = await finish(answer).catch((thrown) => thrown);
      expect(error).toMatchObject({ code, message: expect.stringMatching(says) });
      expect(performance.now() - before).toBeLessThan(9000);
      expect(JSON.stringify([error.message, error.hint])).not.toContain(words);
      // The code was used: the same answer is good for nothing.
      await expect(finish(answer)).rejects.toMatchObject({ code: 'invalid_input' });
      await expectNothingKept(begun);
      await remove(begun);
    });

    describe('the answer of an authorization server', () => {
      test('is refused from the session of another person, who may not end it, and works in its own', async () => {
        const begun = await addAttack('good');
        const answer = answerTo(await begin(begun));
        const again = await memberClient(homes.platform, homes.a.owner.email);
        const stranger = await memberClient(homes.platform, homes.b.owner.email);
        await expect(finish(answer, other)).rejects.toMatchObject({ code: 'invalid_input' });
        await expect(finish(answer, again)).rejects.toMatchObject({ code: 'invalid_input' });
        await expect(finish(answer, stranger)).rejects.toMatchObject({ code: 'not_found' });
        await expect(finish(answer, homes.backend)).rejects.toMatchObject({ code: 'forbidden' });
        expect(await finish(answer)).toBe('connected');
        await expect(finish(answer)).rejects.toMatchObject({ code: 'invalid_input' });
        expect(await seenBy(begun)).not.toContain(secret);
        await remove(begun);
      });

      test('with the issuer of another server, or without one, sends the code nowhere', async () => {
        const begun = await addAttack('good');
        const elsewhere = provider.placesOf('other').issuer;
        for (const change of [
          (answer: URLSearchParams) => answer.set('iss', elsewhere),
          (answer: URLSearchParams) => answer.append('iss', elsewhere),
          (answer: URLSearchParams) => answer.delete('iss'),
          (answer: URLSearchParams) => answer.append('code', 'another'),
        ]) {
          const before = provider.asked.filter((one) => one.endsWith('/token')).length;
          const answer = answerTo(await begin(begun));
          change(answer);
          await expect(finish(answer)).rejects.toMatchObject({ code: 'forbidden' });
          expect(provider.asked.filter((one) => one.endsWith('/token')).length).toBe(before);
        }
        await expectNothingKept(begun);
        await remove(begun);
      });

      test('that names another integration, workspace or random part is nobody’s', async () => {
        const [begun, second] = [await addAttack('good'), await addAttack('other')];
        const address = await begin(begun);
        await begin(second);
        const [, , random = ''] = address.searchParams.get('state')?.split('.') ?? [];
        for (const state of [
          `${begun.workspace}.${second.id}.${random}`,
          `${homes.b.workspace}.${begun.id}.${random}`,
          `${begun.workspace}.${begun.id}.${random}x`,
          `${begun.workspace}.${begun.id}.`,
          `${begun.workspace}.${begun.id}.${random}.${random}`,
          '',
          '.'.repeat(8000),
        ]) {
          const error = await finish(answerTo(address, { state })).catch((thrown) => thrown);
          expect([state, error.code]).toEqual([state, expect.stringMatching(/^(invalid_input|not_found)$/)]);
        }
        const twice = answerTo(address);
        twice.append('state', address.searchParams.get('state') ?? '');
        await expect(finish(twice)).rejects.toMatchObject({ code: 'invalid_input' });
        await expectNothingKept(begun);
        expect(await finish(answerTo(address))).toBe('connected');
        await Promise.all([begun, second].map(remove));
      });

      test('of an MCP server whose URL was changed meanwhile connects nothing', async () => {
        const begun = await addAttack('good');
        const answer = answerTo(await begin(begun));
        const text =
          'mutation ($w: ID!, $s: ID!, $url: String!) { updateMcpServer(workspace: $w, id: $s, input: { launch: { url: $url } }) { id } }';
        await ask(homes.backend, text, { w: begun.workspace, s: begun.server, url: provider.placesOf('other').url });
        await expect(finish(answer)).rejects.toMatchObject({ code: 'conflict' });
        await expectNothingKept(begun);
        await remove(begun);
      });
    });

    test('an MCP server that quotes its token in a refusal makes it visible to nobody', async () => {
      const begun = await addAttack('quoting');
      expect(await finish(answerTo(await begin(begun)))).toBe('connected');
      // The runtime logs the refusal when it has read it.
      let seen = '';
      await until(async () => {
        seen = await seenBy(begun);
        return seen.includes('you sent');
      });
      expect(seen).not.toContain(secret);
      expect(seen).not.toContain(Buffer.from(`Bearer ${secret}`).toString('base64'));
      const claims = `query ($w: ID!, $id: ID!) { workspace(id: $w) { integration(id: $id) { state scopes wantedScopes } } }`;
      expect(JSON.stringify(await ask(homes.backend, claims, { w: begun.workspace, id: begun.id }))).not.toContain(
        secret,
      );
      await remove(begun);
    });

    test('twenty authorizations at a silent server delay no agent, and no authorization of another workspace', async () => {
      const slow = await addAttack('slow');
      const quick = await addAttack('quick', homes.b.workspace);
      const ofB = await memberClient(homes.platform, homes.b.owner.email);
      await victim.expectUndisturbedBy(async () => {
        const attacking = Promise.all(
          Array.from({ length: 20 }, () => begin(slow, other).then(String, ({ code }) => code as string)),
        );
        const before = performance.now();
        expect(await finish(answerTo(await begin(quick, ofB)), ofB)).toBe('connected');
        expect(performance.now() - before).toBeLessThan(3000);
        for (const code of await attacking) expect(code).toMatch(/^(unavailable|rate_limited)$/);
      });
      const { mcpUrl } = homes.platform;
      const session = await openSession(`${mcpUrl}?skillIds=${homes.a.same.skill}`, homes.a.same.keyText);
      const body = rpc('tools/call', { name: 'get-env', arguments: {} });
      expect(isGood(await send(mcpUrl, { key: homes.a.same.keyText, session, body }))).toBe(true);
    });
  },
  { isLong: true },
);
