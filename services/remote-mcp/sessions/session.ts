import { SvcError } from '../../contracts/errors.ts';
import type { KeyId, SessionId, WorkspaceId } from '../../contracts/ids.ts';
import { CallUnderWay, type RequestId } from './call-under-way.ts';
import type { Disclosure } from './disclosure.ts';
import type { LogLevel, ProtocolVersion } from './protocol.ts';
import type { SessionState } from './session-record.ts';

/** Calls of one session at once. */
const callsMax = 256;
const never = Number.NEGATIVE_INFINITY;

/**
 * This process's copy of a session; the record on the bus is authoritative. Ten thousand sessions may be idle, so a
 * copy is small and flat, without timers or closures. State of busy sessions is made when needed.
 */
export class Session {
  readonly id: SessionId;
  /** The key that opened the session. No other key may use it. */
  readonly key: KeyId;
  readonly workspace: WorkspaceId;
  readonly protocol: ProtocolVersion;
  disclosure: Disclosure;
  logLevel: LogLevel;
  /** When it was last used here, on the monotonic clock. */
  seenAt = performance.now();
  /** The last use that the record includes, and when the record was last written. */
  savedSeenAt = never;
  savedAt = never;
  revision: number;
  /** The connection to the bus on which the record was last read or written (see Sessions). */
  epoch: number;
  /** Fingerprint of the list of tools that the agent last saw; null if unknown here. */
  listed: number | null = null;
  /** Requests in progress; null if there are none. In an array, for the reason in `InFlight`. */
  calls: readonly CallUnderWay[] | null = null;

  constructor(
    names: { readonly id: SessionId; readonly key: KeyId; readonly workspace: WorkspaceId },
    state: SessionState,
    saved: { readonly revision: number; readonly epoch: number },
  ) {
    this.id = names.id;
    this.key = names.key;
    this.workspace = names.workspace;
    this.protocol = state.protocol;
    this.disclosure = state.disclosure;
    this.logLevel = state.logLevel;
    this.revision = saved.revision;
    this.epoch = saved.epoch;
  }

  /** Takes over the record, unless it is older than this copy: reads may end in another order than they began. */
  adopt(state: SessionState, saved: { readonly revision: number; readonly epoch: number }): void {
    if (saved.revision < this.revision) return;
    this.disclosure = state.disclosure;
    this.logLevel = state.logLevel;
    // Another remote-mcp wrote the record, at an unknown time.
    if (saved.revision > this.revision) this.savedSeenAt = this.savedAt = never;
    this.revision = saved.revision;
    this.epoch = saved.epoch;
  }

  /** Notes that the record was just written with this time of last use. */
  saved(seenAt: number): void {
    this.savedSeenAt = seenAt;
    this.savedAt = performance.now();
  }

  /**
   * Notes a request in progress by the agent's id. Null if a request with that id is in progress, because a
   * cancellation could mean either. Throws `rate_limited`.
   */
  beginCall(id: RequestId, authorization: string | undefined): CallUnderWay | null {
    if (this.findCall(id) !== undefined) return null;
    if (this.calls !== null && this.calls.length >= callsMax) {
      throw new SvcError('rate_limited', `This session has ${callsMax} calls under way, which is the limit.`, {
        hint: 'Wait until some have ended.',
      });
    }
    const call = new CallUnderWay(id, authorization);
    this.calls = [...(this.calls ?? []), call];
    return call;
  }

  findCall(id: RequestId): CallUnderWay | undefined {
    return this.calls?.find((call) => call.id === id);
  }

  endCall(call: CallUnderWay): void {
    call.answered();
    const others = this.calls?.filter((other) => other !== call) ?? [];
    this.calls = others.length === 0 ? null : others;
  }

  endCalls(): void {
    if (this.calls !== null) for (const call of this.calls) call.cancel();
  }
}
