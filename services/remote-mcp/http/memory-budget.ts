import { SvcError } from '../../contracts/errors.ts';
import type { KeyId } from '../../contracts/ids.ts';

/** Whose memory it is: a key's, or that of all clients without a good key together. */
export type MemoryOwner = KeyId | null;

export interface MemoryLimits {
  readonly totalBytes: number;
  readonly shareBytes: number;
}

const mebibyte = 1024 * 1024;
/** Half of the memory that `limits.memoryMaxMb` gives a remote-mcp at first; the process itself needs less than the other half. */
const totalBytes = 256 * mebibyte;
/** Four results of the largest size, or five calls of the largest size under way. */
const shareBytes = 64 * mebibyte;

/**
 * The memory of one remote-mcp for what agents send and do not read: counted before it is taken. A key may hold at most 64 MiB and at most as
 * much as is still free.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #heldBy = new Map<MemoryOwner, number>();
  #held = 0;

  constructor(limits: MemoryLimits = { totalBytes, shareBytes }) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Throws `rate_limited` where the key's share is used up, and `unavailable` where the memory of all is. */
  hold(owner: MemoryOwner, bytes: number): HeldMemory {
    const held = new HeldMemory(this, owner);
    held.resize(bytes);
    return held;
  }

  /** Whether the owner may hold so much more. */
  hasRoom(owner: MemoryOwner, bytes: number): boolean {
    return this.#shortage(owner, bytes) === null;
  }

  /** For HeldMemory alone. */
  take(owner: MemoryOwner, bytes: number): void {
    const shortage = this.#shortage(owner, bytes);
    if (shortage !== null) throw this.#refusal(shortage, bytes);
    this.#change(owner, bytes);
  }

  /** For HeldMemory alone. */
  give(owner: MemoryOwner, bytes: number): void {
    this.#change(owner, -bytes);
  }

  #shortage(owner: MemoryOwner, bytes: number): 'share' | 'total' | null {
    const own = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (own > this.#limits.shareBytes) return 'share';
    return own > this.#limits.totalBytes - this.#held - bytes ? 'total' : null;
  }

  #change(owner: MemoryOwner, bytes: number): void {
    const own = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (own > 0) this.#heldBy.set(owner, own);
    else this.#heldBy.delete(owner);
    this.#held += bytes;
  }

  #refusal(shortage: 'share' | 'total', bytes: number): SvcError {
    const { shareBytes, totalBytes } = this.#limits;
    if (shortage === 'share') {
      const message = `The requests of this key may hold ${shareBytes} bytes of memory at once, and this one needs ${bytes} more.`;
      return new SvcError('rate_limited', message, {
        hint: 'Send fewer or smaller requests at the same time, and read each answer.',
      });
    }
    const message = `All requests to this remote-mcp may hold ${totalBytes} bytes of memory at once, and too little is left for ${bytes} more.`;
    return new SvcError('unavailable', message, { hint: 'Try again shortly.' });
  }
}

/** Memory that is counted until it is released. */
export class HeldMemory {
  readonly #budget: MemoryBudget;
  readonly #owner: MemoryOwner;
  #bytes = 0;

  constructor(budget: MemoryBudget, owner: MemoryOwner) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws as `MemoryBudget.hold` does, and then holds what it held before. */
  resize(bytes: number): void {
    if (bytes === this.#bytes) return;
    if (bytes > this.#bytes) this.#budget.take(this.#owner, bytes - this.#bytes);
    else this.#budget.give(this.#owner, this.#bytes - bytes);
    this.#bytes = bytes;
  }

  /** May be called again: the second call changes nothing. */
  release(): void {
    this.resize(0);
  }
}
