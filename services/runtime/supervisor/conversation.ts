import { SvcError } from '../../contracts/errors.ts';
import { isObject } from '../../contracts/is-object.ts';
import type { CancelSignal } from '../../kit/cancellation.ts';
import { jsonDepthMax } from '../../kit/scan-json.ts';
import type { Channel, Outgoing } from '../launchers/channel.ts';
import { replaceToken } from '../wire/progress-token.ts';
import { type Incoming, readMessage, type Unusable } from '../wire/read-message.ts';
import { isMethod, writeAnswer, writeNotification, writeRequest } from '../wire/write-message.ts';
import type { Answer, Call } from './call.ts';
import { CallRefused } from './call-refused.ts';
import { Pending, PendingCalls, pendingMax } from './pending-calls.ts';

export interface ConversationListener {
  toolsChanged(): void;
  /** Invalid data was received; `bug` is an error that it caused in the runtime's code. */
  garbage(sample: string, bug?: unknown): void;
  /** A call got no answer: the MCP server may have ended. */
  doubted(): void;
}

/** A call ends after this long, however often the MCP server reports progress. */
const callMaxMs = 30 * 60 * 1000;
const sweepIntervalMs = 60 * 1000;
const methodNotFound = -32601;

/** JSON-RPC 2.0 with one instance of an MCP server: assigns ids, and delivers each answer to its caller. */
export class Conversation {
  readonly #name: string;
  readonly #listener: ConversationListener;
  readonly #pending = new PendingCalls();
  readonly #byToken = new Map<string, Pending>();
  readonly #idleWaiters: (() => void)[] = [];
  readonly #sweep: NodeJS.Timeout;
  #channel: Channel | null = null;
  #closed: SvcError | null = null;
  #lastHeard = performance.now();

  constructor(name: string, listener: ConversationListener) {
    this.#name = name;
    this.#listener = listener;
    this.#sweep = setInterval(() => this.#failOverdue(), sweepIntervalMs).unref();
  }

  /** Must be called after the launch and before any request. */
  begin(channel: Channel): void {
    this.#channel = channel;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Resolves when no request is open. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#pending.size === 0) resolve();
      else this.#idleWaiters.push(resolve);
    });
  }

  get silentForMs(): number {
    return performance.now() - this.#lastHeard;
  }

  call(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (!isMethod(call.method)) throw new SvcError('invalid_input', `"${call.method.slice(0, 60)}" is not a method.`);
      if (call.signal.aborted) throw endOf(call.signal);
      if (this.#pending.isFull) {
        throw new CallRefused('rate_limited', `MCP server "${this.#name}" has ${pendingMax} calls in progress.`, {
          hint: 'Try again when some of them have ended.',
        });
      }
      const pending = new Pending(this.#pending.nextId(), call, {
        resolve,
        reject,
        abandon: () => this.#abandon(pending),
      });
      this.#send(pending);
    });
  }

  /** Sends a request of the runtime itself. */
  async ask(method: string, params: unknown, timeoutMs: number): Promise<Answer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(tooLate()), timeoutMs);
    const text = params === undefined ? empty : Buffer.from(JSON.stringify(params));
    try {
      return await this.call({ method, params: text, progress: null, signal: deadline.signal, notify: () => {} });
    } finally {
      clearTimeout(timer);
    }
  }

  notify(method: string): void {
    this.#trySend(writeNotification(method), { kind: 'notification', method });
  }

  /** Takes a message. True when the request that carried it needs nothing more. */
  hear(text: Buffer, during: number | null): boolean {
    this.#lastHeard = performance.now();
    const garbage = (bug?: unknown) => this.#listener.garbage(text.subarray(0, sampleBytes).toString('utf8'), bug);
    // Output of one MCP server must not end the process that serves all the others.
    try {
      for (const message of readMessage(text) ?? [null]) {
        if (message === null || !this.#take(message, during)) garbage();
      }
    } catch (thrown) {
      garbage(thrown);
    }
    return during !== null && this.#pending.find(during) === null;
  }

  lost(id: number, error: SvcError): void {
    const pending = this.#pending.find(id);
    if (pending === null) return;
    this.#forget(pending);
    pending.reject(error);
    if (error.code === 'unavailable') this.#listener.doubted();
  }

  /** Fails all open and later requests. */
  close(error: SvcError): void {
    this.#closed ??= error;
    clearInterval(this.#sweep);
    for (const pending of this.#pending.all()) {
      this.#forget(pending);
      pending.reject(error);
    }
  }

  #send(pending: Pending): void {
    if (this.#closed !== null) throw CallRefused.because(this.#closed);
    if (this.#channel === null) throw new CallRefused('unavailable', `MCP server "${this.#name}" is starting.`);
    const { id, call } = pending;
    const params = call.progress === null ? call.params : this.#register(pending, call.progress);
    this.#pending.add(pending);
    try {
      this.#channel.send(writeRequest(id, call.method, params), { kind: 'request', id, method: call.method });
    } catch (error) {
      this.#forget(pending);
      throw CallRefused.because(error);
    }
    call.signal.addEventListener('abort', pending);
  }

  #register(pending: Pending, token: string): Uint8Array {
    const { params } = pending.call;
    if (!this.#byToken.has(token)) {
      pending.token = token;
      this.#byToken.set(token, pending);
      return params;
    }
    const unique = `${token}.${pending.id}`;
    const replaced = replaceToken(params, unique);
    if (replaced === null) return params;
    pending.token = unique;
    pending.restore = replaced.restore;
    this.#byToken.set(unique, pending);
    return replaced.params;
  }

  /** False when the message is invalid. */
  #take(message: Incoming, during: number | null): boolean {
    switch (message.kind) {
      case 'result':
      case 'error': {
        const pending = this.#pending.find(message.id);
        if (pending === null) return true; // The call was cancelled or had passed its deadline.
        this.#forget(pending);
        pending.resolve(message);
        return true;
      }
      case 'unusable': {
        const pending = this.#pending.find(message.id);
        if (pending === null) return false;
        this.#forget(pending);
        pending.reject(unusable(this.#name, message.why));
        return false;
      }
      case 'request':
        this.#answer(message.id, message.method);
        return true;
      case 'notification':
        return this.#takeNotification(message, during);
    }
  }

  /** A notification without a call is dropped: agents that share the MCP server must not learn of each other. */
  #takeNotification({ method, params, payload }: Incoming & { kind: 'notification' }, during: number | null): boolean {
    if (method === 'notifications/tools/list_changed') {
      this.#listener.toolsChanged();
      return true;
    }
    const streamed = during === null ? null : this.#pending.find(during);
    if (method !== 'notifications/progress') {
      streamed?.call.notify(payload);
      return true;
    }
    const token = isObject(params) ? params.progressToken : undefined;
    if (typeof token !== 'string' && typeof token !== 'number') return false;
    const pending = this.#byToken.get(String(token)) ?? streamed;
    const notification = pending?.restore(payload);
    if (notification === null) return false;
    if (notification !== undefined) pending?.call.notify(notification);
    return true;
  }

  /** No capability was declared, so only ping can be requested of this side (MCP 2025-11-25, "Lifecycle"). */
  #answer(id: string | number, method: string): void {
    const error = { code: methodNotFound, message: 'This client offers no such method.' };
    this.#trySend(writeAnswer(id, method === 'ping' ? { result: {} } : { error }), { kind: 'answer' });
  }

  #abandon(pending: Pending): void {
    if (this.#pending.find(pending.id) === null) return;
    this.#forget(pending);
    const error = endOf(pending.call.signal);
    pending.reject(error);
    this.#channel?.forget(pending.id);
    if (error.code === 'timeout') this.#listener.doubted();
    if (pending.call.method === 'initialize') return; // Never cancelled (MCP 2025-11-25, "Cancellation").
    const method = 'notifications/cancelled';
    const params = { requestId: pending.id, reason: error.code };
    this.#trySend(writeNotification(method, params), { kind: 'notification', method });
  }

  #forget(pending: Pending): void {
    this.#pending.remove(pending);
    if (pending.token !== null) this.#byToken.delete(pending.token);
    pending.call.signal.removeEventListener('abort', pending);
    if (this.#pending.size === 0 && this.#idleWaiters.length > 0)
      for (const idle of this.#idleWaiters.splice(0)) idle();
  }

  #failOverdue(): void {
    const earliest = performance.now() - callMaxMs;
    for (const pending of this.#pending.all()) {
      if (pending.since < earliest) this.#abandon(pending);
    }
  }

  /**
   * A message without a waiting caller may be lost when the channel is full or closed: the channel itself reports that.
   */
  #trySend(message: Buffer, about: Outgoing): void {
    try {
      this.#channel?.send(message, about);
    } catch {
      // Ignored for the reason above.
    }
  }
}

const empty = new Uint8Array();
const sampleBytes = 200;

/** Why a call ended before its answer. One abandoned without its signal was overdue. */
function endOf({ aborted, reason }: CancelSignal): SvcError {
  if (!aborted) return tooLate();
  return reason instanceof SvcError ? reason : new SvcError('cancelled', 'The call was cancelled.');
}

function unusable(name: string, why: Unusable): SvcError {
  const what = { not_json: 'is not valid JSON', too_deep: `is nested more than ${jsonDepthMax} levels deep` };
  return new SvcError('unavailable', `The answer of MCP server "${name}" ${what[why]}.`, {
    hint: `Correct the MCP server. Show its state: svc server show ${name}`,
  });
}

function tooLate(): SvcError {
  return new SvcError('timeout', 'The MCP server did not answer in time.');
}
