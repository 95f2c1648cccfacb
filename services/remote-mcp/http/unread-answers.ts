import type { ServerResponse } from 'node:http';
import type { BoundedLog } from '../../kit/bounded-log.ts';
import type { Held } from '../../kit/budget.ts';
import type { AgentMemory, AgentOwner } from './agent-memory.ts';

/** A client that reads nothing of its answer for this long counts as gone. */
const silenceMaxMs = 60_000;

interface Waiting {
  readonly held: Held;
  readonly release: () => void;
}

export interface UnreadAnswersOptions {
  readonly memory: AgentMemory;
  readonly refusals: Pick<BoundedLog, 'write'>;
  readonly silenceMaxMs?: number;
}

/**
 * Bounds the answers that clients do not read: how long each may wait, and how much memory the answers of one key may
 * take.
 */
export class UnreadAnswers {
  readonly #options: UnreadAnswersOptions;
  /** The waiting answers of each key, oldest first. */
  readonly #waitingOf = new Map<string, Map<ServerResponse, Waiting>>();

  constructor(options: UnreadAnswersOptions) {
    this.#options = options;
  }

  /** Called after each write. Nearly always the system has accepted the whole answer by then. */
  note(response: ServerResponse, owner: AgentOwner): void {
    if (response.writableLength > 0) this.#wait(response, owner);
  }

  #wait(response: ServerResponse, owner: AgentOwner): void {
    if (response.req.socket.destroyed) return;
    const waiting = this.#waitingOf.get(owner.key)?.get(response) ?? this.#begin(response, owner);
    const more = response.writableLength - waiting.held.amount;
    if (more > 0) this.#makeRoom(owner, more);
    if (this.#waitingOf.get(owner.key)?.has(response)) waiting.held.resize(response.writableLength);
  }

  #begin(response: ServerResponse, owner: AgentOwner): Waiting {
    const { socket } = response.req;
    const onDrain = () => {
      if (response.writableLength === 0) release();
    };
    const release = () => {
      waiting.held.release();
      this.#forget(response, owner);
      response.off('close', release);
      socket.off('close', release).off('drain', onDrain);
      // An open stream may be silent for any time. After an answer has ended, Node itself counts the connection's idle time.
      if (!response.writableEnded) response.setTimeout(0);
    };
    const waiting: Waiting = { held: this.#options.memory.hold(owner, 0), release };
    const ofOwner = this.#waitingOf.get(owner.key) ?? new Map<ServerResponse, Waiting>();
    this.#waitingOf.set(owner.key, ofOwner.set(response, waiting));
    // The connection's event too: Node emits no event on an answer that waits behind another one.
    response.once('close', release);
    socket.once('close', release).on('drain', onDrain);
    // Node restarts this timer while the client reads, and closes the connection when it fires.
    response.setTimeout(this.#options.silenceMaxMs ?? silenceMaxMs);
    return waiting;
  }

  #forget(response: ServerResponse, owner: AgentOwner): void {
    const ofOwner = this.#waitingOf.get(owner.key);
    ofOwner?.delete(response);
    if (ofOwner?.size === 0) this.#waitingOf.delete(owner.key);
  }

  /** Ends answers of this owner, the oldest first and the new one last. Answers of other owners stay. */
  #makeRoom(owner: AgentOwner, bytes: number): void {
    const { memory, refusals } = this.#options;
    for (const [response, { held, release }] of this.#waitingOf.get(owner.key) ?? []) {
      if (memory.hasRoom(owner, bytes)) return;
      refusals.write(
        { sender: `unread ${owner.key}`, workspace: owner.workspace },
        { key: owner.key, bytes: held.amount },
        'ended a connection whose client reads too slowly',
      );
      release();
      response.req.socket.destroy();
    }
  }
}
