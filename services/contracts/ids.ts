import { SvcError } from './errors.ts';

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** The prefix of each kind of id, so that an id names its kind everywhere. */
export const idPrefixes = {
  workspace: 'wsp',
  user: 'usr',
  member: 'mem',
  role: 'rol',
  toolRule: 'rul',
  skill: 'skl',
  mcpServer: 'srv',
  integration: 'itg',
  tool: 'tol',
  toolPattern: 'pat',
  key: 'key',
  runtime: 'run',
  systemKey: 'syk',
  activity: 'act',
  usage: 'use',
  setting: 'set',
  status: 'sta',
  file: 'fil',
  blob: 'blb',
  browserSession: 'ses',
  signInLink: 'lnk',
  invitation: 'inv',
  mail: 'mai',
  password: 'pwd',
  passkey: 'psk',
  oauthClient: 'oac',
  oauthRecord: 'oar',
  identity: 'idt',
} as const;

export type IdKind = keyof typeof idPrefixes;
export type Id<Kind extends IdKind = IdKind> = Brand<Kind>;

export type WorkspaceId = Id<'workspace'>;
export type UserId = Id<'user'>;
export type RoleId = Id<'role'>;
export type SkillId = Id<'skill'>;
export type McpServerId = Id<'mcpServer'>;
export type IntegrationId = Id<'integration'>;
export type ToolId = Id<'tool'>;
export type KeyId = Id<'key'>;
export type FileId = Id<'file'>;
export type RuntimeId = Id<'runtime'>;
export type BrowserSessionId = Id<'browserSession'>;
export type SignInLinkId = Id<'signInLink'>;
export type InvitationId = Id<'invitation'>;
export type MailId = Id<'mail'>;
export type OauthRecordId = Id<'oauthRecord'>;

/** One process of a service, for its lifetime. */
export type ProcessId = Brand<'process'>;
/** A session of an agent with remote-mcp. */
export type SessionId = Brand<'session'>;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const timeLength = 8; // 62^8 milliseconds: enough until the year 8888
const turnLength = 3; // 62^3 ids in one millisecond
const randomLength = 13; // 77 bits
const processLength = 11; // 65 bits
const bodyShape = new RegExp(`^[0-9A-Za-z]{${timeLength + turnLength + randomLength}}$`);

let latest = { time: 0, turn: 0 };

/**
 * Ids begin with their time and a counter, so that records are indexed in the order of their creation. They end in
 * random letters, so that no two processes make the same id.
 */
export function newId<Kind extends IdKind>(kind: Kind, time: number = Date.now()): Id<Kind> {
  latest = { time, turn: time === latest.time ? latest.turn + 1 : 0 };
  return `${idPrefixes[kind]}_${digits(time, timeLength)}${digits(latest.turn, turnLength)}${randomText(randomLength)}` as Id<Kind>;
}

/** Stands for the operators of a workspace where a key is named: in sessions, usage and budgets. */
export function operatorKeyOf(workspace: WorkspaceId): KeyId {
  return `${idPrefixes.key}${workspace.slice(idPrefixes.workspace.length)}` as KeyId;
}

/** Stands for a member who tries tools, where a key is named. */
export function memberKeyOf(member: Id<'member'>): KeyId {
  return `${idPrefixes.key}${member.slice(idPrefixes.member.length)}` as KeyId;
}

/** The member for whom the id of a key may stand. */
export function memberOfKey(key: KeyId): Id<'member'> {
  return `${idPrefixes.member}${key.slice(idPrefixes.key.length)}` as Id<'member'>;
}

export function newProcessId(): ProcessId {
  return `p${randomText(processLength)}` as ProcessId;
}

/** The process id for some bytes; from 32 random bytes every id is equally likely. */
export function processIdFrom(bytes: Uint8Array): ProcessId {
  let rest = BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`);
  let text = '';
  for (let i = 0; i < processLength; i++) {
    text += alphabet.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return `p${text}` as ProcessId;
}

/** 190 random bits; visible ASCII only, as the Streamable HTTP transport requires (2025-11-25, "Session Management"). */
export function newSessionId(): SessionId {
  return randomText(32) as SessionId;
}

export function parseId<Kind extends IdKind>(kind: Kind, text: string): Id<Kind> {
  const id = findId(kind, text);
  if (id === null) {
    throw new SvcError(
      'invalid_input',
      `"${text.slice(0, 60)}" is not the id of a ${kind}: it must look like ${idPrefixes[kind]}_….`,
    );
  }
  return id;
}

export function findId<Kind extends IdKind>(kind: Kind, text: string): Id<Kind> | null {
  const prefix = `${idPrefixes[kind]}_`;
  return text.startsWith(prefix) && bodyShape.test(text.slice(prefix.length)) ? (text as Id<Kind>) : null;
}

export function findProcessId(text: string): ProcessId | null {
  return /^p[0-9A-Za-z]{11}$/.test(text) ? (text as ProcessId) : null;
}

export function findSessionId(text: string): SessionId | null {
  return /^[0-9A-Za-z]{32}$/.test(text) ? (text as SessionId) : null;
}

function digits(number: number, length: number): string {
  let rest = number;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

/** Random letters and digits; bytes of 248 and more are discarded because 256 is not a multiple of 62. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    }
  }
  return text;
}
