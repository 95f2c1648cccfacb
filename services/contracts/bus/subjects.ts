import type { Digest } from '../digest.ts';
import type { ProcessId, RuntimeId, SessionId, UserId, WorkspaceId } from '../ids.ts';

/** The kinds of news of a workspace: its configuration, the state of its MCP servers or a key changed; calls were counted. */
export type EventKind = 'catalogue' | 'status' | 'key' | 'calls';

/** All subjects of the bus, built in one place. Ids contain no dot, so each is one token. */
export const subjects = {
  /** A runtime's process introduces itself and asks for its assignments. Answered by the backend. */
  handshake: (runtime: RuntimeId, process: ProcessId) => `svc.identity.handshake.${runtime}.${process}`,
  /** remote-mcp introduces itself and asks for the advertised addresses. Answered by the backend. */
  hello: (node: ProcessId) => `svc.identity.hello.${node}`,
  /** remote-mcp asks for the owner of an API key. Answered by the backend. */
  key: (node: ProcessId) => `svc.identity.key.${node}`,
  call: (runtime: RuntimeId, process: ProcessId) => `svc.runtime.${runtime}.${process}.call`,
  command: (runtime: RuntimeId, process: ProcessId) => `svc.runtime.${runtime}.${process}.command`,
  heartbeat: (runtime: RuntimeId, process: ProcessId) => `svc.heartbeat.${runtime}.${process}`,
  report: (runtime: RuntimeId, process: ProcessId) => `svc.report.${runtime}.${process}`,
  gone: (runtime: RuntimeId, process: ProcessId) => `svc.gone.${runtime}.${process}`,
  event: (workspace: WorkspaceId, kind: EventKind) => `svc.event.${workspace}.${kind}`,
  /** Something of a person changed: a session, a membership. For backends with open pages, and remote-mcp. */
  account: (user: UserId) => `svc.account.${user}`,
  session: (session: SessionId) => `svc.session.${session}`,
} as const;

/** Patterns that services subscribe to: the subjects with wildcards in place of the sender's name. */
export const patterns = {
  handshake: 'svc.identity.handshake.*.*',
  hello: 'svc.identity.hello.*',
  key: 'svc.identity.key.*',
  heartbeat: 'svc.heartbeat.*.*',
  report: 'svc.report.*.*',
  gone: 'svc.gone.*.*',
  eventsOf: (workspace: WorkspaceId) => `svc.event.${workspace}.*`,
  events: 'svc.event.*.*',
  accounts: 'svc.account.*',
} as const;

/** Durable streams and key-value buckets. */
export const streams = { usage: 'usage' } as const;
export const buckets = { sessions: 'sessions' } as const;

/**
 * Subjects for blobs on the bus, grouped by the first two digits of the digest. A blob has one record, and its parts
 * are under the id of the put that wrote them.
 */
export const blobSubjects = {
  all: 'svc.blob.>',
  record: (digest: Digest) => `svc.blob.${shelfOf(digest)}.${digest}`,
  part: (digest: Digest, put: string, index: number) => `svc.blob.${shelfOf(digest)}.${digest}.${put}.${index}`,
  /** The parts of one put, or of all with `*`. */
  partsOf: (digest: Digest, put: string) => `svc.blob.${shelfOf(digest)}.${digest}.${put}.*`,
  recordsOn: (shelf: string) => `svc.blob.${shelf}.*`,
  partsOn: (shelf: string) => `svc.blob.${shelf}.*.*.*`,
} as const;

function shelfOf(digest: Digest): string {
  return digest.slice(0, 2);
}

/** The tokens of a subject, after a check that it matches `pattern`. */
export function tokensOf(pattern: string, subject: string): readonly string[] | null {
  return matches(pattern, subject) ? subject.split('.') : null;
}

/**
 * NATS wildcards: `*` stands for one token, a final `>` for one or more. A pattern matches another pattern when it
 * covers it: `a.>` covers `a.*`, and `a.*` does not cover `a.>`.
 */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject) return true;
  const wanted = pattern.split('.');
  const given = subject.split('.');
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return given.length > i;
    if (i >= given.length || given[i] === '>' || (token !== '*' && token !== given[i])) return false;
  }
  return wanted.length === given.length;
}
