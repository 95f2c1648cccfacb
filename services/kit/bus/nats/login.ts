import { findProcessId, type ProcessId, randomText } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import type { ClientCredentials } from '../name-process.ts';
import type { Issuer } from './issuer.ts';
import type { Applicant } from './user-token.ts';

/** A client's login at NATS: user and password of its CONNECT, with a nonce and its inbox as the connection's name. */
export interface Login {
  readonly user: string;
  readonly pass: string;
}

/** A random inbox for NATS's own answers, chosen before the client knows its identity: no other client can guess it. */
export function newInbox(): string {
  return `${inboxRoot}${randomText(22)}`;
}

export function connectionName(nonce: ProcessId, inbox: string): string {
  return `${nonce} ${inbox} ${told}`;
}

/** Marks a client that waits for its introduction. Clients of the previous version ask for it instead. */
const told = 'told';
const inboxRoot = '_I.';
const inboxShape = /^_I\.[0-9A-Za-z]{22}$/;

/** Prefix of the user name of a refused client that asks for the reason. */
const why = 'why ';
/** A backend proves itself with a signature that is valid this long. */
const ownWordMaxAgeMs = 60_000;

export function loginOf(credentials: ClientCredentials): Login {
  return { user: userOf(credentials), pass: credentials.key.reveal() };
}

export function askingWhy(login: Login): Login {
  return { ...login, user: `${why}${login.user}` };
}

/** Backends hold the key that signs admissions, and prove it. */
export function backendLogin(issuer: Issuer, process: ProcessId): Login {
  const at = Date.now().toString();
  const proof = issuer.sign(ownWord(process, at)).toString('base64url');
  return { user: 'backend', pass: `${at}.${proof}` };
}

export function provesBackend(issuer: Issuer, { nonce, password }: ReadLogin): boolean {
  const [at = '', proof = ''] = password.split('.');
  if (!(Math.abs(Date.now() - Number(at)) <= ownWordMaxAgeMs)) return false;
  return issuer.hasSigned(ownWord(nonce, at), Buffer.from(proof, 'base64url'));
}

/** The well-formed part of a client's login. */
export interface ReadLogin {
  readonly asksWhy: boolean;
  /** The user name that the client shows. */
  readonly user: string;
  /** Distinguishes processes with the same credential. For a backend it is its process id. */
  readonly nonce: ProcessId;
  readonly inbox: string;
  /** Whether it asks for its identity, as the previous version did, instead of being introduced. */
  readonly asks: boolean;
  readonly password: string;
  /** Null: it claims to be a backend. */
  readonly credentials: ClientCredentials | null;
}

export function readLogin({ user, password, name }: Applicant): ReadLogin | null {
  const asksWhy = user.startsWith(why);
  const shownUser = asksWhy ? user.slice(why.length) : user;
  const [kind = '', ...rest] = shownUser.split(' ');
  const runtimeName = rest.join(' ');
  const [first = '', inbox = '', form] = name.split(' ', 3);
  const nonce = findProcessId(first);
  if (nonce === null || !inboxShape.test(inbox) || password === '') return null;
  const shown = { asksWhy, user: shownUser, nonce, inbox, asks: form !== told, password };
  const key = new Secret(password);
  switch (kind) {
    case 'backend':
      return { ...shown, credentials: null };
    case 'remote-mcp':
      return { ...shown, credentials: { kind: 'system', component: 'remote-mcp', key } };
    case 'runtime':
      return {
        ...shown,
        credentials:
          runtimeName === '' ? { kind: 'runtime', key } : { kind: 'system', component: 'runtime', runtimeName, key },
      };
    default:
      return null;
  }
}

function userOf(credentials: ClientCredentials): string {
  if (credentials.kind === 'runtime') return 'runtime';
  return credentials.component === 'remote-mcp' ? 'remote-mcp' : `runtime ${credentials.runtimeName}`;
}

function ownWord(process: ProcessId, at: string): Uint8Array {
  return Buffer.from(`backend ${process} ${at}`);
}
