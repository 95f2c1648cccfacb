import type { Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { KeyId, SessionId, WorkspaceId } from '../../contracts/ids.ts';
import { Budget } from '../../kit/budget.ts';
import type { Admitted } from '../auth/rechecks.ts';
import type { EventStream } from '../http/event-stream.ts';
import type { Session } from './session.ts';
import type { SessionMessage } from './session-messages.ts';

/** A client that lost its connection opens a new stream before the old one is known to be dead. The oldest stream is closed. */
const perSessionMax = 4;
const streamsMax = 10_000;
const streamShares = { key: 2000, workspace: 5000 };
/** Clients of a stopping remote-mcp reconnect after this time or up to twice as long: not all at once, and after a restart. */
const returnMinMs = 1000;
/** Shorter than the idle timeout of common proxies. */
const keepAliveEveryMs = 15_000;

export interface OpenedWith {
  readonly stream: EventStream;
  readonly session: Session;
  /** The owner of the key that opened the stream. */
  readonly principal: Principal;
  readonly authorization: string | undefined;
}

export class OpenStream implements Admitted, OpenedWith {
  readonly stream: EventStream;
  readonly session: Session;
  readonly principal: Principal;
  readonly authorization: string | undefined;
  readonly since = Date.now();
  /** A newer stream is open at another remote-mcp. */
  isSuperseded = false;

  constructor({ stream, session, principal, authorization }: OpenedWith) {
    this.stream = stream;
    this.session = session;
    this.principal = principal;
    this.authorization = authorization;
  }

  get isOver(): boolean {
    return !this.stream.isOpen;
  }

  end(): void {
    this.stream.end();
  }
}

export interface SessionStreamsOptions {
  /** Called periodically for each workspace with an open stream. */
  readonly onListening: (workspace: WorkspaceId) => void;
  /** Sends a message to the other remote-mcps. */
  readonly tell: (session: SessionId, message: SessionMessage) => void;
}

/** The streams that clients opened with GET, for messages that belong to no request. */
export class SessionStreams {
  readonly #ofSession = new Map<SessionId, OpenStream[]>();
  readonly #room = new Budget({
    ...{ what: 'streams', total: streamsMax, shares: streamShares },
    hint: 'Close unused streams. Calls work without a stream.',
  });
  readonly #options: SessionStreamsOptions;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: SessionStreamsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tend(), keepAliveEveryMs).unref();
  }

  /** Throws if no further stream may be opened. */
  checkRoom(principal: Principal): void {
    if (this.#isStopped) {
      throw new SvcError('unavailable', 'This remote-mcp is being stopped.', {
        hint: 'Try again: another remote-mcp answers.',
      });
    }
    this.#room.check(principal, 1);
  }

  add(openedWith: OpenedWith): void {
    const opened = new OpenStream(openedWith);
    const { session, principal } = opened;
    const others = this.#ofSession.get(session.id) ?? [];
    if (others.length >= perSessionMax) others[0]?.stream.end();
    this.#ofSession.set(session.id, [...others, opened]);
    this.#room.take(principal, 1);
    this.#options.tell(session.id, { kind: 'listening', since: opened.since });
    opened.stream.onClose(() => this.#remove(opened));
  }

  /** A stream of the session was opened elsewhere. */
  supersede(session: SessionId, since: number): void {
    for (const opened of this.#ofSession.get(session) ?? []) if (opened.since < since) opened.isSuperseded = true;
  }

  /** The stream elsewhere was closed. */
  resume(session: SessionId): void {
    for (const opened of this.#ofSession.get(session) ?? []) opened.isSuperseded = false;
  }

  has(session: SessionId): boolean {
    return this.#ofSession.has(session);
  }

  *all(): Generator<OpenStream> {
    for (const streams of this.#ofSession.values()) yield* streams;
  }

  /**
   * The newest stream of a session: a message goes to one stream only (2025-11-25, "Multiple Connections"). Null if the newest stream is open
   * at another remote-mcp, or there is none.
   */
  newestOf(session: SessionId): OpenStream | null {
    return this.#ofSession.get(session)?.findLast(({ stream, isSuperseded }) => stream.isOpen && !isSuperseded) ?? null;
  }

  /** The newest stream of each session that has one. */
  *newestOfEach(): Generator<OpenStream> {
    for (const session of this.#ofSession.keys()) {
      const newest = this.newestOf(session);
      if (newest !== null) yield newest;
    }
  }

  endSession(session: SessionId): void {
    this.#endWhere((opened) => opened.session.id === session);
  }

  endKey(key: KeyId): void {
    this.#endWhere((opened) => opened.principal.key === key);
  }

  endWorkspace(workspace: WorkspaceId): void {
    this.#endWhere((opened) => opened.principal.workspace === workspace);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#isStopped = true;
    for (const { stream } of this.all()) stream.end(Math.round(returnMinMs * (1 + Math.random())));
  }

  /** Ends all streams. Clients that reconnect are authenticated again. */
  #endWhere(matches: (opened: OpenStream) => boolean): void {
    for (const streams of this.#ofSession.values()) {
      for (const opened of streams) if (matches(opened)) opened.stream.end();
    }
  }

  #tend(): void {
    const now = Date.now();
    this.#endWhere(({ principal: { expiresAt } }) => expiresAt !== null && now >= expiresAt);
    const workspaces = new Set<WorkspaceId>();
    for (const streams of this.#ofSession.values()) {
      for (const { stream, session } of streams) {
        stream.keepAlive();
        workspaces.add(session.workspace);
      }
    }
    for (const workspace of workspaces) this.#options.onListening(workspace);
  }

  #remove(closed: OpenStream): void {
    const { id } = closed.session;
    const left = (this.#ofSession.get(id) ?? []).filter((opened) => opened !== closed);
    if (left.length > 0) this.#ofSession.set(id, left);
    else this.#ofSession.delete(id);
    this.#room.give(closed.principal, 1);
    if (!closed.isSuperseded && this.newestOf(id) === null) this.#options.tell(id, { kind: 'silent' });
  }
}
