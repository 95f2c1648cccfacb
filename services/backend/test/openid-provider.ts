import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { visitAsBrowser } from './visit-as-browser.ts';

export interface TestIdentity {
  readonly subject: string;
  readonly email: string;
  readonly isVerified: boolean;
}

export interface TestProvider {
  readonly issuer: string;
  /** The person who signs in at the provider next; null: the person refuses. */
  person: TestIdentity | null;
  /** Goes to the provider as a browser, signs in there, and returns the address that the provider sends the browser to. */
  visit(url: string): Promise<URL>;
  stop(): Promise<void>;
}

export const clientId = 'svc';
export const clientSecret = 'provider-secret-91c4';

/** A real OpenID provider, on its own port. Its sign-in page asks nothing. */
export async function startOpenidProvider(redirectUri: string): Promise<TestProvider> {
  const server = createServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const known = new Map<string, TestIdentity>();
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => {
        const { email, isVerified } = known.get(accountId) ?? { email: '', isVerified: false };
        return { sub: accountId, email, email_verified: isVerified };
      },
    }),
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      const accountId = session?.accountId;
      if (client === undefined || accountId === undefined) return undefined;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  async function handle(...[request, response]: Parameters<typeof answer>): Promise<void> {
    if (!request.url?.startsWith('/interaction/')) return void (await answer(request, response));
    const { person } = running;
    if (person !== null) known.set(person.subject, person);
    const result =
      person === null ? { error: 'access_denied' } : { login: { accountId: person.subject, remember: false } };
    await provider.interactionFinished(request, response, result);
  }
  const running: TestProvider = {
    issuer,
    person: null,
    visit: (url) => visitAsBrowser(issuer, url),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return running;
}
