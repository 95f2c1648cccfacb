import type { Health, Reason, ServerStatus } from '../../contracts/bus/messages.ts';
import { startingCode } from '../../contracts/reason-codes.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import type { PingOutcome } from './instance.ts';

/** The state of an MCP server in this process. */
export type State = Past &
  (
    | { readonly phase: 'waiting' }
    | { readonly phase: 'starting' }
    | {
        readonly phase: 'connected';
        readonly complaint: Reason | null;
        readonly slow: boolean;
        readonly deafPings: number;
      }
    | { readonly phase: 'failed'; readonly retryAt: number; readonly failure: Reason }
    | { readonly phase: 'refused'; readonly refusal: Reason }
    | { readonly phase: 'stopped' }
  );

type Connected = State & { readonly phase: 'connected' };

/** Data kept from phase to phase. */
interface Past {
  /** Why it last failed; null once it has been stable. */
  readonly failure: Reason | null;
  /** Failures since it was last stable: the delay before the next try grows with them. */
  readonly failures: number;
  readonly restarts: number;
  readonly restartedAt: number | null;
  readonly startedAt: number | null;
}

export type Event =
  /** Its turn to start has come. */
  | { readonly kind: 'start' }
  /** The handshake is done and the tools are listed. */
  | { readonly kind: 'connected' }
  | { readonly kind: 'failed'; readonly reason: Reason }
  | { readonly kind: 'retry' }
  | Ping
  /** It works, but with a fault. */
  | { readonly kind: 'complaint'; readonly reason: Reason | null }
  /** It has been connected long enough to forget its failures. */
  | { readonly kind: 'settled' }
  /** The launch is not allowed. */
  | { readonly kind: 'refused'; readonly reason: Reason }
  /** A changed configuration, or a restart by a person. */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'stop' };

/** A ping was sent, with this many open calls and after this long a silence. */
export interface Ping {
  readonly kind: 'ping';
  readonly outcome: PingOutcome;
  readonly inFlight: number;
  readonly silentForMs: number;
  /** An open call may keep it busy, but no call may be silent for longer than this (architecture, section 11). */
  readonly busyMaxMs: number;
}

export interface Clock {
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

const retry: Backoff = { firstMs: 250, maxMs: 60_000 };
/** Connected for this long it counts as stable; until then a restart shows as yellow. */
export const stableAfterMs = 5 * 60 * 1000;
/** Unanswered pings in a row after which only a restart helps. */
const deafMax = 3;

export const initialState: State = {
  phase: 'waiting',
  failure: null,
  failures: 0,
  restarts: 0,
  restartedAt: null,
  startedAt: null,
};

/**
 * The state table of MCP servers (architecture, "State tables"). An event that a phase does not know is ignored: it
 * comes from an earlier phase.
 */
export function transition(state: State, event: Event, clock: Clock): State {
  if (event.kind === 'stop') return { ...past(state), phase: 'stopped' };
  if (event.kind === 'replaced') return { ...initialState, restarts: state.restarts };
  switch (state.phase) {
    case 'waiting':
      if (event.kind === 'refused') return { ...past(state), phase: 'refused', refusal: event.reason };
      return event.kind === 'start' ? started(state, clock) : state;
    case 'starting':
      if (event.kind === 'connected') return connected(state);
      return event.kind === 'failed' ? failed(state, event.reason, clock) : state;
    case 'connected':
      switch (event.kind) {
        case 'failed':
          return failed(state, event.reason, clock);
        case 'ping':
          return pinged(state, event, clock);
        case 'complaint':
          return { ...state, complaint: event.reason };
        case 'settled':
          return { ...state, failure: null, failures: 0, restartedAt: null };
        default:
          return state;
      }
    case 'failed':
      if (event.kind !== 'retry') return state;
      return { ...past(state), phase: 'waiting', restarts: state.restarts + 1, restartedAt: clock.now };
    case 'refused':
    case 'stopped':
      return state;
  }
}

/** Whether it is likely to be connected within this time, so that a call should wait for it. */
export function isExpectedWithin(state: State, timeMs: number, now: number): boolean {
  switch (state.phase) {
    case 'waiting':
    case 'starting':
    case 'connected': // It was connected until just now, and restarts.
      return timeMs > 0;
    case 'failed':
      return state.retryAt - now < timeMs;
    case 'refused':
    case 'stopped':
      return false;
  }
}

/** During a restart after a failure it stays Error until it is Connected. */
export function statusOf(state: State): ServerStatus {
  switch (state.phase) {
    case 'connected':
      return 'Connected';
    case 'failed':
    case 'refused':
      return 'Error';
    case 'waiting':
    case 'starting':
      return state.failure === null ? 'Disconnected' : 'Error';
    case 'stopped':
      return 'Disconnected';
  }
}

export function healthOf(state: State): Health {
  if (state.phase !== 'connected') return 'red';
  return reasonOf(state) === null ? 'green' : 'yellow';
}

export function reasonOf(state: State): Reason | null {
  switch (state.phase) {
    case 'connected':
      return complaintOf(state);
    case 'failed':
      return state.failure;
    case 'waiting':
    case 'starting':
      return state.failure ?? beingStarted;
    case 'refused':
      return state.refusal;
    case 'stopped':
      return null;
  }
}

function started(state: State, { now }: Clock): State {
  return { ...past(state), phase: 'starting', startedAt: now };
}

function connected(state: State): State {
  return { ...past(state), phase: 'connected', complaint: null, slow: false, deafPings: 0 };
}

function failed(state: State, reason: Reason, { now, random }: Clock): State {
  const failures = state.failures + 1;
  const retryAt = now + backoffMs(retry, failures, random);
  return { ...past(state), phase: 'failed', failures, failure: reason, retryAt };
}

function pinged(state: Connected, ping: Ping, clock: Clock): State {
  const { outcome, inFlight, silentForMs, busyMaxMs } = ping;
  if (outcome !== 'none') return { ...state, slow: outcome === 'slow', deafPings: 0 };
  const deafPings = state.deafPings + 1;
  const isBusy = inFlight > 0 && silentForMs <= busyMaxMs;
  if (deafPings >= deafMax && !isBusy) return failed(state, notAnswering(deafPings), clock);
  return { ...state, deafPings };
}

function past({ failure, failures, restarts, restartedAt, startedAt }: State): Past {
  return { failure, failures, restarts, restartedAt, startedAt };
}

const beingStarted: Reason = {
  code: startingCode,
  message: 'It is starting.',
  repair: 'Wait a moment; a first start may download packages.',
};

const slowToAnswer: Reason = {
  code: 'slow',
  message: 'It takes longer than a second to answer a ping.',
  repair: 'Check the load of its machine, or restart it.',
};

/** Why a connected MCP server is not green, the most important reason first. */
function complaintOf({ complaint, deafPings, slow, restartedAt, failure }: Connected): Reason | null {
  if (deafPings > 0) return notAnswering(deafPings);
  if (complaint !== null) return complaint;
  if (slow) return slowToAnswer;
  return restartedAt === null ? null : restarted(failure);
}

function notAnswering(deafPings: number): Reason {
  return {
    code: 'not_answering',
    message: `It left ${deafPings === 1 ? 'a ping' : `${deafPings} pings in a row`} unanswered.`,
    repair: 'It restarts automatically if this persists; restart it to have it back now.',
  };
}

function restarted(failure: Reason | null): Reason {
  return {
    code: 'restarted',
    message:
      `It was restarted within the last five minutes${failure === null ? '.' : ` because: ${failure.message}`}`.slice(
        0,
        3500,
      ),
    repair: failure?.repair ?? 'Nothing, if it stays connected.',
  };
}
