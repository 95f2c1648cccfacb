import type { KeyId, SessionId, WorkspaceId } from '../../contracts/ids.ts';
import type { CallUnderWay, RequestId } from './call-under-way.ts';
import type { Disclosure } from './disclosure.ts';
import type { LogLevel, ProtocolVersion } from './protocol.ts';
import type { SessionState } from './session-record.ts';

const never = Number.NEGATIVE_INFINITY;

/**
 * A session as it is held here; its record on the bus is what counts. Ten thousand of them are idle most of the time, so it is a small
 * flat thing without timers or functions of its own; what only a busy session has is made when needed.
 */
export class Session {
  readonly id: SessionId;
  /** It belongs to the key it was opened with, and to no other. */
  readonly key: KeyId;
  readonly workspace: WorkspaceId;
  readonly protocol: ProtocolVersion;
  disclosure: Disclosure;
  logLevel: LogLevel;
  /** When it was last used here, by this process's own clock, which nobody sets. */
  seenAt = performance.now();
  /** The last use here that its record was written after, and when that was last tried. */
  savedSeenAt = never;
  savedAt = never;
  revision: number;
  /** When the record was last read or written, counted in connections to the bus (see Sessions). */
  epoch: number;
  /** Stands for the list of tools that the agent knows; null where that is not known here. */
  listed: number | null = null;
  /** Requests under way, by the agent's ids; null while there are none. */
  calls: Map<RequestId, CallUnderWay> | null = null;

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

  /** What its record says, unless that is older: of two reads the one that began first may end last, and something be written meanwhile. */
  adopt(state: SessionState, saved: { readonly revision: number; readonly epoch: number }): void {
    if (saved.revision < this.revision) return;
    this.disclosure = state.disclosure;
    this.logLevel = state.logLevel;
    // Written elsewhere, nobody here knows when.
    if (saved.revision > this.revision) this.savedSeenAt = this.savedAt = never;
    this.revision = saved.revision;
    this.epoch = saved.epoch;
  }

  /** Its record was written here just now, when it had been used last at that time. */
  saved(seenAt: number): void {
    this.savedSeenAt = seenAt;
    this.savedAt = performance.now();
  }

  endCalls(): void {
    if (this.calls !== null) for (const call of this.calls.values()) call.cancel();
  }
}
