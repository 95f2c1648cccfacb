import type { Msg } from '@nats-io/transport-node';
import { type Message, payloadMaxBytes } from '../bus.ts';
import { Assembly, readFrame } from './frame.ts';

/** Payloads whose frames are coming in at once; of more, the one that began first is given up. */
const assembledMaxBytes = 4 * payloadMaxBytes;
/** Frames of one payload follow each other at once; one that takes longer lost its sender. */
const assembledMaxMs = 30_000;

interface Begun {
  readonly assembly: Assembly;
  readonly at: number;
}

/** Puts published messages together that come in frames, each sender's apart from the others'. */
export class MessageAssembly {
  readonly #begun = new Map<string, Begun>();

  /** The whole message with its last frame, null before, and for what is no frame of ours. */
  take(message: Msg): Message | null {
    const frame = readFrame(message);
    if (frame?.kind !== 'message') return null;
    const { headers, id, more } = frame;
    if (id === undefined) return { subject: message.subject, payload: frame.payload, headers };
    const known = this.#begun.get(id);
    if (known === undefined && !more) return null;
    const begun = known ?? { assembly: new Assembly(), at: performance.now() };
    if (known === undefined) this.#add(id, begun);
    try {
      const payload = begun.assembly.take(frame);
      if (payload === null) return null;
      this.#begun.delete(id);
      return { subject: message.subject, payload, headers };
    } catch {
      this.#begun.delete(id);
      return null;
    }
  }

  #add(id: string, begun: Begun): void {
    let size = 0;
    for (const [other, { assembly, at }] of this.#begun) {
      if (begun.at - at > assembledMaxMs) this.#begun.delete(other);
      else size += assembly.size;
    }
    for (const [other, { assembly }] of this.#begun) {
      if (size <= assembledMaxBytes) break;
      this.#begun.delete(other);
      size -= assembly.size;
    }
    this.#begun.set(id, begun);
  }
}
