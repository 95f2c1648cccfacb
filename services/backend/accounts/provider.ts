import * as openid from 'openid-client';
import { SvcError } from '../../contracts/errors.ts';
import { isLocalHost } from '../../contracts/local-host.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import { boundedFetch } from './bounded-fetch.ts';

/** The provider's endpoints and keys may change, seldom. */
const freshMs = 10 * 60_000;

/** The person whom the provider has proven. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null unless the provider says that it has verified the address. */
  readonly email: string | null;
}

/** The secrets of one sign-in, kept by the browser in a sealed cookie. */
export interface ProviderChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** An external OpenID provider (OpenID Connect Core 1.0, authorization code flow with PKCE). */
export class Provider {
  readonly name: string;
  readonly #issuer: URL;
  readonly #clientId: string;
  readonly #secret: string;
  readonly #redirectUri: string;
  #known: { readonly configuration: Promise<openid.Configuration>; readonly until: number } | null = null;

  constructor(options: ProviderOptions) {
    this.name = options.name;
    this.#issuer = new URL(options.issuer);
    this.#clientId = options.clientId;
    this.#secret = options.secret;
    this.#redirectUri = options.redirectUri;
  }

  /** The address to which the browser goes. */
  async begin({ state, nonce, verifier }: ProviderChecks): Promise<URL> {
    return openid.buildAuthorizationUrl(await this.#configuration(), {
      ...{ redirect_uri: this.#redirectUri, scope: 'openid email', state, nonce },
      ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    });
  }

  /** Exchanges the code. Checks the state, the nonce, and the signature, issuer, audience and expiry of the ID token. */
  async finish(search: string, { state, nonce, verifier }: ProviderChecks): Promise<ProvenIdentity> {
    const configuration = await this.#configuration();
    const tokens = await openid.authorizationCodeGrant(configuration, new URL(`${this.#redirectUri}${search}`), {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new SvcError('unauthenticated', 'The provider sent no ID token.');
    const hasEmail = claims.email !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined;
    const person = hasEmail ? claims : await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    const { email, email_verified: isVerified } = person;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' && isVerified === true ? email : null,
    };
  }

  /** One discovery for all who wait. A failed one is repeated by the next caller. */
  #configuration(): Promise<openid.Configuration> {
    const known = this.#known;
    if (known !== null && performance.now() < known.until) return known.configuration;
    const configuration = this.#discover();
    const entry = { configuration, until: performance.now() + freshMs };
    this.#known = entry;
    configuration.catch(() => {
      if (this.#known === entry) this.#known = null;
    });
    return configuration;
  }

  #discover(): Promise<openid.Configuration> {
    // http is for a provider on this machine, as in tests.
    return openid.discovery(this.#issuer, this.#clientId, undefined, openid.ClientSecretBasic(this.#secret), {
      [openid.customFetch]: boundedFetch,
      execute: [
        openid.enableNonRepudiationChecks,
        ...(isLocalHost(this.#issuer) ? [openid.allowInsecureRequests] : []),
      ],
    });
  }
}

export interface ProviderOptions {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly secret: string;
  readonly redirectUri: string;
}

export interface WithProvider {
  /** Null without an external provider. */
  readonly provider: Provider | null;
}

export function newProviderChecks(): ProviderChecks {
  return {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
  };
}

export const providerCallbackPath = '/account/provider/callback';

export function openProvider({ config }: WithConfig): Provider | null {
  const { SIGN_IN_PROVIDER_ISSUER: issuer, SIGN_IN_PROVIDER_CLIENT_ID: clientId } = config;
  const secret = config.SIGN_IN_PROVIDER_CLIENT_SECRET;
  if (issuer === undefined || clientId === undefined || secret === undefined) return null;
  const redirectUri = `${config.PUBLIC_BACKEND_URL}${providerCallbackPath}`;
  return new Provider({ name: config.SIGN_IN_PROVIDER_NAME, issuer, clientId, secret: secret.reveal(), redirectUri });
}
