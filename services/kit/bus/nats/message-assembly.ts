import { type Message, payloadMaxBytes } from '../bus.ts';
import { Assembly, type Frame } from './frame.ts';

/** Incomplete messages. Beyond this number or size, the oldest is dropped. */
const begunMax = 64;
const begunMaxBytes = 4 * payloadMaxBytes;
/** Frames of one message follow each other at once; a slower message has lost its sender. */
const begunMaxMs = 10_000;

interface UnfinishedMessage {
  readonly assembly: Assembly;
  readonly until: number;
  bytes: number;
}

/**
 * Assembles published messages of several frames. Only backends and remote-mcps publish these: a message of a runtime
 * is one frame. Each frame costs the same, however many messages are incomplete.
 */
export class MessageAssembly {
  /** By subject and id, the oldest first. */
  readonly #begun = new Map<string, UnfinishedMessage>();
  #bytes = 0;

  /** Bytes that wait for the rest of their message. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The complete message with its last frame, null before. */
  take(subject: string, frame: Frame): Message | null {
    const { headers, id, more, payload } = frame;
    if (id === undefined) return more ? null : { subject, payload, headers };
    const now = performance.now();
    const name = `${subject} ${id}`;
    const begun = this.#begun.get(name) ?? (more ? this.#begin(name, now) : null);
    if (begun === null) return null;
    const whole = this.#add(name, begun, frame);
    if (whole !== null) return { subject, payload: whole, headers };
    this.#giveUpOldest(now);
    return null;
  }

  #begin(name: string, now: number): UnfinishedMessage {
    const begun = { assembly: new Assembly(), until: now + begunMaxMs, bytes: 0 };
    this.#begun.set(name, begun);
    return begun;
  }

  #add(name: string, begun: UnfinishedMessage, frame: Frame): Uint8Array | null {
    begun.bytes += frame.payload.byteLength;
    this.#bytes += frame.payload.byteLength;
    try {
      const whole = begun.assembly.take(frame);
      if (whole !== null) this.#remove(name, begun);
      return whole;
    } catch {
      this.#remove(name, begun);
      return null;
    }
  }

  #giveUpOldest(now: number): void {
    for (const [name, begun] of this.#begun) {
      if (this.#begun.size <= begunMax && this.#bytes <= begunMaxBytes && begun.until > now) break;
      this.#remove(name, begun);
    }
  }

  #remove(name: string, { bytes }: UnfinishedMessage): void {
    this.#begun.delete(name);
    this.#bytes -= bytes;
  }
}
