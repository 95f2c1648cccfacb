import { z } from 'zod';
import type { Grants } from './grants.ts';
import type { Issuer } from './issuer.ts';

/** What NATS reports about a connecting client. Only authorizers receive the message, so its signature adds nothing. */
export interface Applicant {
  readonly serverId: string;
  /** The key that NATS made for this connection. */
  readonly userKey: string;
  /** The client's address. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly name: string;
}

const request = z.object({
  nats: z.object({
    server_id: z.object({ id: z.string() }),
    user_nkey: z.string(),
    client_info: z.object({ host: z.string() }),
    connect_opts: z.object({
      user: z.string().default(''),
      pass: z.string().default(''),
      name: z.string().default(''),
    }),
  }),
});

/** Reads the token of an authorization request. */
export function readApplicant(token: string): Applicant {
  const [, body = ''] = token.split('.');
  const { nats } = request.parse(JSON.parse(Buffer.from(body, 'base64url').toString()));
  const { user, pass, name } = nats.connect_opts;
  const { host } = nats.client_info;
  return { serverId: nats.server_id.id, userKey: nats.user_nkey, host, user, password: pass, name };
}

export interface Admission {
  readonly applicant: Applicant;
  /** Account of the bus for the client. */
  readonly account: string;
  /** The client's name in NATS from now on. */
  readonly name: string;
  readonly grants: Grants;
  readonly lifetimeSeconds?: number;
}

/** The answer that admits a client, signed by the one account that NATS trusts for it. */
export function admit(issuer: Issuer, { applicant, account, name, grants, lifetimeSeconds }: Admission): string {
  const user = sign(issuer, {
    sub: applicant.userKey,
    aud: account,
    name,
    ...(lifetimeSeconds === undefined ? {} : { exp: nowSeconds() + lifetimeSeconds }),
    nats: {
      type: 'user',
      version: 2,
      pub: allowing(grants.publish),
      sub: allowing(grants.subscribe),
      ...{ subs: -1, data: -1, payload: -1 },
    },
  });
  return answer(issuer, applicant, { jwt: user });
}

export function refuse(issuer: Issuer, applicant: Applicant, reason: string): string {
  return answer(issuer, applicant, { error: reason });
}

function answer(issuer: Issuer, { userKey, serverId }: Applicant, content: object): string {
  const nats = { type: 'authorization_response', version: 2, ...content };
  return sign(issuer, { sub: userKey, aud: serverId, nats });
}

/** NATS reads an empty list as permission for every subject. */
function allowing(subjects: readonly string[]): object {
  return subjects.length === 0 ? { deny: ['>'] } : { allow: subjects };
}

/** A JWT in NATS's form: EdDSA, under NATS's own algorithm name. */
function sign(issuer: Issuer, claims: object): string {
  const body = { iss: issuer.publicKey, iat: nowSeconds(), jti: crypto.randomUUID(), ...claims };
  const text = [{ typ: 'JWT', alg: 'ed25519-nkey' }, body].map(base64).join('.');
  return `${text}.${issuer.sign(Buffer.from(text)).toString('base64url')}`;
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
