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
  /** Has a stream open: it is in use although it says nothing. */
  readonly isListening: (session: SessionId) => boolean;
  /** It has ended, or is no longer used here: nobody is to wait for it. */
  readonly onDrop: (session: SessionId) => void;
  readonly log: Logger;
}

/** What a change may change. */
export type Changeable = Pick<SessionState, 'disclosure' | 'logLevel'>;

/** At about a kilobyte each. */
const sessionsMax = 100_000;
const sessionShares = { key: 20_000, workspace: 50_000 };
/**
 * Parts of the idle timeout: a session in use is due to be written down again after a quarter, and all are written within an eighth. So an
 * idle one may live longer by these, and one that another remote-mcp finds is written before it ends.
 */
const dueParts = 4;
const writtenParts = 8;
const sweepEveryMaxMs = 1000;
/** What other remote-mcps may have to change before it is one's turn: as many calls as a session may have under way. */
const changeMaxMs = 10_000;
/** Held, but its record must be read before it is used. */
const neverRead = -1;

/** Reads of one record that are under way, and what was heard of it meanwhile: what they bring is older. */
interface Reading {
  readers: number;
  heard: 'nothing' | 'changed' | 'ended';
}

/**
 * The sessions of agents. Their records lie in a bucket of the bus, so any remote-mcp can go on with any of them; what is held here is a copy
 * that is read again when its record changed elsewhere or the connection to the bus was lost meanwhile. Whether one has been idle for too
 * long is for the bus to say, whose clock is one for all: a record that nobody writes again is gone there.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #held = new Map<SessionId, Session>();
  readonly #room = new Budget({
    ...{ what: 'sessions', total: sessionsMax, shares: sessionShares },
    hint: 'End sessions that are no longer used (HTTP DELETE); idle ones end by themselves.',
  });
  readonly #readings = new Map<SessionId, Reading>();
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

  /** At once where it is held here. Null where there is none of that id, or none of this key. Throws `unavailable`. */
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

  /** Applies a change to the record, after those that were asked for here before. Returns whether it changed anything. */
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

  /** Again where another remote-mcp was quicker: of all that try at once one succeeds each time, so that it comes to an end. */
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

  /** Its end is for everyone. */
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

  /** Those that have calls under way here. */
  *busy(): Generator<Session> {
    for (const session of this.#held.values()) if (session.calls !== null) yield session;
  }

  /** Its record was changed elsewhere. */
  changedElsewhere(id: SessionId): void {
    const session = this.#held.get(id);
    if (session !== undefined) session.epoch = neverRead;
    const reading = this.#readings.get(id);
    if (reading?.heard === 'nothing') reading.heard = 'changed';
  }

  /** Reads its record again where that may be another by now. False where it can't be read. */
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

  /** It is no more: whoever reads its record just now finds none either. */
  endHere(id: SessionId): void {
    const reading = this.#readings.get(id);
    if (reading !== undefined) reading.heard = 'ended';
    this.drop(id);
  }

  /** Records may have been changed or lost while the bus was away. */
  reconnected(): void {
    this.#epoch++;
  }

  /** Writes down who was here until now, so that the idle time goes on counting from there. */
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

  /** The record, and of which connection what it says is; null where the session ended while it was read. */
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

  /** False where the record is another than the one known here. */
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

  /** Where its record was changed elsewhere it is read, and written in another sweep. */
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
