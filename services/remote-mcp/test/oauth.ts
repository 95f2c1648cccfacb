import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { Browser } from '../../backend/test/browser.ts';
import { type Platform, startPlatform } from './platform.ts';

export const redirectUri = 'http://127.0.0.1:7777/callback';

/** A platform whose public addresses are its real ones, as the authorization server needs. */
export async function startPublicPlatform(
  backendEnv: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Platform> {
  const [mcpPort, backendPort] = [await freePort(), await freePort()];
  const addresses = {
    PUBLIC_MCP_URL: `http://127.0.0.1:${mcpPort}/mcp`,
    PUBLIC_BACKEND_URL: `http://127.0.0.1:${backendPort}`,
  };
  return await startPlatform({
    env: { ...addresses, REMOTE_PORT: String(mcpPort), ...env },
    backendEnv: { ...addresses, PORT: String(backendPort), ...backendEnv },
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** What the client of the SDK keeps between its steps. */
export function rememberingProvider() {
  const saved: { client?: unknown; tokens?: { scope?: string }; verifier?: string; to?: URL } = {};
  const authProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUri] },
    clientInformation: () => saved.client as never,
    saveClientInformation: (value: unknown) => void Object.assign(saved, { client: value }),
    tokens: () => saved.tokens as never,
    saveTokens: (value: unknown) => void Object.assign(saved, { tokens: value }),
    redirectToAuthorization: (to: URL) => void Object.assign(saved, { to }),
    saveCodeVerifier: (value: string) => void Object.assign(saved, { verifier: value }),
    codeVerifier: () => saved.verifier ?? '',
  };
  return { saved, authProvider };
}

/** The browser of a person who used a sign-in link. */
export async function signIn(platform: Platform, email: string): Promise<Browser> {
  const mutation = 'mutation ($email: String!) { createSignInLink(email: $email) { url } }';
  const { createSignInLink: link } = await platform.must(mutation, { email });
  const browser = new Browser(platform.backendUrl);
  const { status } = await browser.post('/account/link', { token: new URL(link.url).hash.slice('#token='.length) });
  if (status !== 200) throw new Error(`sign-in answered ${status}`);
  return browser;
}

type Parameters = Readonly<Record<string, string | undefined>>;

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly error?: string;
}

/** A client of the authorization server that sends exactly what a test says. */
export class OauthClient {
  readonly id: string;
  readonly verifier = randomBytes(32).toString('base64url');
  readonly #url: string;

  constructor(url: string, id: string) {
    this.#url = url;
    this.id = id;
  }

  static async register(url: string, more: object = {}): Promise<OauthClient> {
    const { status, body } = await register(url, { client_name: 'Test agent', redirect_uris: [redirectUri], ...more });
    if (status !== 201) throw new Error(`registration answered ${status}: ${JSON.stringify(body)}`);
    return new OauthClient(url, body.client_id);
  }

  /** Begins a request in this browser. An undefined parameter is left out. */
  async authorize(browser: Browser, more: Parameters = {}) {
    const all = {
      ...{ response_type: 'code', client_id: this.id, redirect_uri: redirectUri, state: 'the state' },
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    };
    const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    const answer = await browser.get(`/connect/authorize?${new URLSearchParams(given)}`);
    const location = answer.headers.get('location');
    return { ...answer, location, uid: new URL(location ?? 'http://none/').pathname.split('/').at(-1) ?? '' };
  }

  /** The way from the consent to the code. */
  async consent(
    browser: Browser,
    uid: string,
    choice: { readonly workspace: string; readonly roles?: readonly string[]; readonly scope?: string },
  ) {
    const body = { roles: null, scope: 'tools', ...choice };
    const answer = await browser.post(`/connect/interaction/${uid}/consent`, body);
    if (answer.status !== 200) return { ...answer, code: '', back: new URL('http://none/') };
    const resumed = await browser.get(new URL(answer.body.redirect).pathname);
    const back = new URL(resumed.headers.get('location') ?? 'http://none/');
    return { ...answer, code: back.searchParams.get('code') ?? '', back };
  }

  exchange(code: string, more: Parameters = {}) {
    const body = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: this.verifier };
    return this.token({ ...body, ...more });
  }

  refresh(token: string, more: Parameters = {}) {
    return this.token({ grant_type: 'refresh_token', refresh_token: token, ...more });
  }

  token(parameters: Parameters) {
    return this.post('token', parameters);
  }

  async post(path: string, parameters: Parameters) {
    const given = Object.entries({ client_id: this.id, ...parameters });
    const defined = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    const response = await fetch(`${this.#url}/connect/${path}`, {
      method: 'POST',
      body: new URLSearchParams(defined),
    });
    const text = await response.text();
    const body: Tokens = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  }

  /** All of it, for a person in this browser. */
  async connect(browser: Browser, workspace: string, roles?: readonly string[]): Promise<Tokens> {
    const { uid } = await this.authorize(browser);
    const { code } = await this.consent(browser, uid, { workspace, ...(roles === undefined ? {} : { roles }) });
    const { status, body } = await this.exchange(code);
    if (status !== 200) throw new Error(`token answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }
}

export async function register(url: string, metadata: unknown) {
  const response = await fetch(`${url}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  return { status: response.status, body: await response.json() };
}
