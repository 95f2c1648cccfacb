import type { ServerResponse } from 'node:http';
import type { BoundedLog } from '../../kit/bounded-log.ts';
import type { Held } from '../../kit/budget.ts';
import type { AgentMemory, AgentOwner } from './agent-memory.ts';

/** A client that reads nothing of its answer for this long is taken for gone. */
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

/** Answers that wait in this process because their clients do not read them: no answer for ever, and of each key only so much. */
export class UnreadAnswers {
  readonly #options: UnreadAnswersOptions;
  /** Of each key, oldest first. */
  readonly #waitingOf = new Map<string, Map<ServerResponse, Waiting>>();

  constructor(options: UnreadAnswersOptions) {
    this.#options = options;
  }

  /** To be told of what was just written. Nearly always the system has taken all of it by then. */
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
      // Answers that go on are silent for as long as they like; after those that have ended Node counts the connection's idle time.
      if (!response.writableEnded) response.setTimeout(0);
    };
    const waiting: Waiting = { held: this.#options.memory.hold(owner, 0), release };
    const ofOwner = this.#waitingOf.get(owner.key) ?? new Map<ServerResponse, Waiting>();
    this.#waitingOf.set(owner.key, ofOwner.set(response, waiting));
    // That of the connection as well: an answer behind another one that was never sent is not told.
    response.once('close', release);
    socket.once('close', release).on('drain', onDrain);
    // Node begins anew while the client reads, and ends the connection when the time is over.
    response.setTimeout(this.#options.silenceMaxMs ?? silenceMaxMs);
    return waiting;
  }

  #forget(response: ServerResponse, owner: AgentOwner): void {
    const ofOwner = this.#waitingOf.get(owner.key);
    ofOwner?.delete(response);
    if (ofOwner?.size === 0) this.#waitingOf.delete(owner.key);
  }

  /** The owner's answer that has waited longest goes first, and the new one last. Nobody else's is touched. */
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
