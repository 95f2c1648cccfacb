import type { Principal } from '../../contracts/bus/messages.ts';
import { buckets } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findSessionId, type KeyId, newSessionId, type SessionId } from '../../contracts/ids.ts';
import { Budget } from '../../kit/budget.ts';
import type { Bucket, Entry } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';
import { Session } from './session.ts';
import type { SessionMessages } from './session-messages.ts';
import { formatRecord, parseRecord, type SessionState } from './session-record.ts';

export interface SessionsOptions {
  readonly link: Pick<BusLink, 'connected'>;
  readonly messages: Pick<SessionMessages, 'tell'>;
  readonly idleTimeoutMs: number;
  /** Whether the session has an open stream, and so is in use without requests. */
  readonly isListening: (session: SessionId) => boolean;
  /** Called when the session ends, or is no longer used here. */
  readonly onDrop: (session: SessionId) => void;
  readonly log: Logger;
}

/** The parts of a session's state that can change. */
export type Changeable = Pick<SessionState, 'disclosure' | 'logLevel'>;

/** At about a kilobyte each. */
const sessionsMax = 100_000;
const sessionShares = { key: 20_000, workspace: 50_000 };
/**
 * Fractions of the idle timeout. The record of a session in use is due for a renewal after a quarter, and all due
 * records are written within an eighth. An idle session may live longer by these times.
 */
const dueParts = 4;
const writtenParts = 8;
const sweepEveryMaxMs = 1000;
/**
 * How long a change may lose against changes by other remote-mcps: one for each call that a session may have in
 * progress.
 */
const changeMaxMs = 10_000;
/** The session is held here, but its record must be read before use. */
const neverRead = -1;

/**
 * Reads of one record that are in progress, and news of it that arrived meanwhile, which is newer than their result.
 */
interface ReadsUnderWay {
  readers: number;
  heard: 'nothing' | 'changed' | 'ended';
}

/**
 * The sessions of agents. Their records are in a bucket of the bus, so any remote-mcp can serve any session. A copy is
 * held here and read again after a change elsewhere or a reconnect. The bus drops a record that is not renewed, so its
 * clock alone decides how long a session was idle.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #held = new Map<SessionId, Session>();
  readonly #room = new Budget({
    ...{ what: 'sessions', total: sessionsMax, shares: sessionShares },
    hint: 'End sessions that are no longer used (HTTP DELETE); idle ones end by themselves.',
  });
  readonly #readings = new Map<SessionId, ReadsUnderWay>();
  /** The last change of each session that is being changed. */
  readonly #changes = new Map<SessionId, Promise<void>>();
  readonly #sweepEveryMs: number;
  /** Counts connections to the bus. */
  #epoch = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#sweepEveryMs = Math.min(sweepEveryMaxMs, Math.ceil(options.idleTimeoutMs / (2 * writtenParts)));
  }

  start(): void {
    this.#timer = setInterval(() => this.#sweep(performance.now()), this.#sweepEveryMs).unref();
  }

  async open(principal: Principal, state: SessionState): Promise<Session> {
    this.#room.take(principal, 1);
    const names = { id: newSessionId(), key: principal.key, workspace: principal.workspace };
    const session = new Session(names, state, { revision: 0, epoch: this.#epoch });
    try {
      session.revision = await (await this.#bucket()).update(session.id, formatRecord(session, state), 0);
    } catch (thrown) {
      this.#room.give(principal, 1);
      throw thrown;
    }
    session.saved(session.seenAt);
    this.#held.set(session.id, session);
    return session;
  }

  /**
   * Returns no promise if the session is held here. Null if this key has no session with that id. Throws `unavailable`.
   */
  find(id: string, key: KeyId): Session | Promise<Session | null> | null {
    const now = performance.now();
    const held = this.#held.get(id as SessionId);
    if (held === undefined || held.epoch !== this.#epoch || now - held.seenAt > this.#options.idleTimeoutMs) {
      return this.#findRead(id, key);
    }
    if (held.key !== key) return null;
    held.seenAt = now;
    return held;
  }

  async #findRead(id: string, key: KeyId): Promise<Session | null> {
    const session = await this.#read(id, key);
    if (session !== null) session.seenAt = performance.now();
    return session;
  }

  /** Applies a change to the record, after earlier changes from here. Returns whether the record changed. */
  async change(session: Session, apply: (present: Changeable) => Changeable): Promise<boolean> {
    const before = this.#changes.get(session.id) ?? Promise.resolve();
    const change = before.then(() => this.#change(session, apply));
    const over = change.then(nothing, nothing);
    this.#changes.set(session.id, over);
    try {
      return await change;
    } finally {
      if (this.#changes.get(session.id) === over) this.#changes.delete(session.id);
    }
  }

  /** Retries when another remote-mcp was quicker. Of all concurrent attempts one succeeds each time, so the loop ends. */
  async #change(session: Session, apply: (present: Changeable) => Changeable): Promise<boolean> {
    const deadline = performance.now() + changeMaxMs;
    while (performance.now() < deadline) {
      const { disclosure, logLevel } = session;
      const changed = apply({ disclosure, logLevel });
      if (changed.disclosure === disclosure && changed.logLevel === logLevel) return false;
      if (await this.#save(session, changed)) {
        this.#options.messages.tell(session.id, { kind: 'changed' });
        return true;
      }
      if ((await this.#read(session.id, session.key)) === null) throw ended();
    }
    throw new SvcError('conflict', 'The session was changed by too many requests at once.', { hint: 'Try again.' });
  }

  /** Ends the session for all remote-mcps. */
  async end(session: Session): Promise<void> {
    await (await this.#bucket()).delete(session.id);
    this.endHere(session.id);
    this.#options.messages.tell(session.id, { kind: 'ended' });
  }

  drop(id: SessionId): void {
    const session = this.#held.get(id);
    if (session === undefined) return;
    session.endCalls();
    this.#held.delete(id);
    this.#room.give(session, 1);
    this.#options.onDrop(id);
  }

  peek(id: SessionId): Session | null {
    return this.#held.get(id) ?? null;
  }

  /** Sessions with calls in progress here. */
  *busy(): Generator<Session> {
    for (const session of this.#held.values()) if (session.calls !== null) yield session;
  }

  /** Another remote-mcp changed the record. */
  changedElsewhere(id: SessionId): void {
    const session = this.#held.get(id);
    if (session !== undefined) session.epoch = neverRead;
    const reading = this.#readings.get(id);
    if (reading?.heard === 'nothing') reading.heard = 'changed';
  }

  /** Reads the record again if it may have changed. False if the record cannot be read. */
  async catchUp(session: Session): Promise<boolean> {
    if (session.epoch === this.#epoch) return true;
    try {
      await this.#read(session.id, session.key);
      return true;
    } catch (thrown) {
      this.#options.log.debug({ err: thrown, session: session.id }, 'failed to read the record of a session again');
      return false;
    }
  }

  /** The session has ended. Reads of its record that are in progress find no session either. */
  endHere(id: SessionId): void {
    const reading = this.#readings.get(id);
    if (reading !== undefined) reading.heard = 'ended';
    this.drop(id);
  }

  /** Records may have been changed or lost while the bus was away. */
  reconnected(): void {
    this.#epoch++;
  }

  /** Renews the records of sessions in use, so that their idle time counts from now. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    const unsaved = [...this.#held.values()].filter(({ seenAt, savedSeenAt }) => seenAt > savedSeenAt);
    await Promise.all(unsaved.map((session) => this.#renew(session)));
    for (const session of this.#held.values()) session.endCalls();
  }

  async #read(id: string, key: KeyId): Promise<Session | null> {
    const sessionId = findSessionId(id);
    if (sessionId === null) return null;
    const { entry, epoch } = await this.#readEntry(sessionId);
    if (entry === null) {
      this.endHere(sessionId);
      return null;
    }
    const record = parseRecord(entry.value, key);
    const held = this.#held.get(sessionId);
    if (record === null) {
      if (held?.key === key) this.drop(sessionId);
      return null;
    }
    const saved = { revision: entry.revision, epoch };
    if (held !== undefined) {
      held.adopt(record, saved);
      return held;
    }
    const session = new Session({ id: sessionId, key, workspace: record.workspace }, record, saved);
    this.#room.take(session, 1);
    this.#held.set(sessionId, session);
    return session;
  }

  /** The record and the connection that it was read on. The record is null if the session ended during the read. */
  async #readEntry(id: SessionId): Promise<{ readonly entry: Entry | null; readonly epoch: number }> {
    const epoch = this.#epoch;
    const reading = this.#readings.get(id) ?? { readers: 0, heard: 'nothing' };
    this.#readings.set(id, reading);
    reading.readers++;
    try {
      const entry = await (await this.#bucket()).get(id);
      return {
        entry: reading.heard === 'ended' ? null : entry,
        epoch: reading.heard === 'changed' ? neverRead : epoch,
      };
    } finally {
      if (--reading.readers === 0) this.#readings.delete(id);
    }
  }

  /** False if the record has changed since it was last read here. */
  async #save(session: Session, changed: Changeable): Promise<boolean> {
    const state = { protocol: session.protocol, ...changed };
    const { seenAt } = session;
    try {
      const revision = await (await this.#bucket()).update(session.id, formatRecord(session, state), session.revision);
      session.adopt(state, { revision, epoch: session.epoch });
      session.saved(seenAt);
      return true;
    } catch (thrown) {
      if (thrown instanceof SvcError && thrown.code === 'conflict') return false;
      throw thrown;
    }
  }

  #sweep(now: number): void {
    const { idleTimeoutMs, isListening } = this.#options;
    const sweeps = Math.max(1, Math.floor(idleTimeoutMs / writtenParts / this.#sweepEveryMs));
    const savesMax = Math.ceil(this.#held.size / sweeps);
    let saves = 0;
    for (const session of this.#held.values()) {
      if (session.calls !== null || isListening(session.id)) session.seenAt = now;
      if (now - session.seenAt > idleTimeoutMs) this.drop(session.id);
      else if (session.seenAt > session.savedSeenAt && now - session.savedAt >= idleTimeoutMs / dueParts) {
        if (saves++ < savesMax) void this.#renew(session);
      }
    }
  }

  /** Writes the record. A record that changed elsewhere is read, and written by a later sweep. */
  async #renew(session: Session): Promise<void> {
    session.savedAt = performance.now();
    try {
      const isSaved = await this.#save(session, { disclosure: session.disclosure, logLevel: session.logLevel });
      if (!isSaved) await this.#read(session.id, session.key);
    } catch (thrown) {
      this.#options.log.debug({ err: thrown, session: session.id }, 'failed to renew the record of a session');
    }
  }

  async #bucket(): Promise<Bucket> {
    const { bus } = await this.#options.link.connected();
    return bus.bucket(buckets.sessions, { maxAgeMs: this.#options.idleTimeoutMs });
  }
}

function nothing(): void {}

function ended(): SvcError {
  return new SvcError('not_found', 'The session has ended.', { hint: 'Initialize a new one.' });
}
