import { setTimeout as pause } from 'node:timers/promises';
import { rpc, send } from '../../../services/remote-mcp/test/raw.ts';

/** The outcome of one call. `answered` and `refused` are correct; `unreached`: the address itself did not answer. */
export type Outcome = 'answered' | 'refused' | 'unreached' | 'wrong' | 'late' | 'unexplained' | 'session lost';

export interface Call {
  /** Time of `performance.now()`. */
  readonly begun: number;
  readonly ended: number;
  readonly outcome: Outcome;
  readonly url: string;
  /** The beginning of the answer or error. */
  readonly told: string;
}

export interface AgentOptions {
  readonly urls: readonly string[];
  readonly key: string;
  /** A tool that echoes an argument, and the name of this argument. */
  readonly echo: { readonly tool: string; readonly argument: string };
  readonly everyMs: number;
  readonly onCall: (call: Call) => void;
}

/** A call may be silent for a minute. An answer that is still missing a little later will not come. */
const answerDeadlineMs = 70_000;
const toldMax = 200;

export type Agent = ReturnType<typeof agentOf>;

/** One agent with a steady load: one session for as long as it lasts, at any of the addresses. */
export function agentOf(number: number, { urls, key, echo, everyMs, onCall }: AgentOptions) {
  const name = `agent-${number}`;
  let at = number % urls.length;
  let session: string | undefined;
  let calls = 0;
  let waitsSince: number | null = null;

  async function work(signal: AbortSignal): Promise<void> {
    // Agents do not call in step.
    await pause(Math.random() * everyMs, undefined, { signal }).catch(() => {});
    while (!signal.aborted) {
      const begun = performance.now();
      await callOnce(begun);
      const rest = everyMs - (performance.now() - begun);
      await pause(Math.max(rest, 1), undefined, { signal }).catch(() => {});
    }
  }

  async function callOnce(begun: number): Promise<void> {
    const url = urls[at] ?? '';
    waitsSince = begun;
    const { outcome, told } = await ask(url, `${name} says ${calls++}`);
    waitsSince = null;
    onCall({ begun, ended: performance.now(), outcome, url, told: told.slice(0, toldMax) });
    if (outcome === 'session lost') session = undefined;
    // An agent without an answer tries the next address, where a front would send a client.
    if (outcome === 'unreached') at = (at + 1) % urls.length;
  }

  async function ask(url: string, message: string): Promise<{ outcome: Outcome; told: string }> {
    try {
      const refusal = session === undefined ? await openSession(url) : null;
      if (refusal !== null) return { outcome: 'refused', told: refusal };
      const params = { name: echo.tool, arguments: { [echo.argument]: message } };
      const { status, text } = await post(url, rpc('tools/call', params));
      return judge(status, text, message);
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return { outcome: isLate ? 'late' : 'unreached', told: String(error) };
    }
  }

  /** Returns the reason if no session was opened. */
  async function openSession(url: string): Promise<string | null> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } };
    const { status, headers, text } = await post(url, rpc('initialize', params));
    session = headers.get('mcp-session-id') ?? undefined;
    if (session === undefined) return `${status} ${text}`;
    await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
    return null;
  }

  function post(url: string, body: object) {
    return send(url, { key, session, body, signal: AbortSignal.timeout(answerDeadlineMs) });
  }

  return {
    work,
    /** Start time of the call that waits for its answer now. */
    waitsSince: () => waitsSince,
  };
}

/** An answer must belong to this question, and an error must have a name. */
function judge(status: number, text: string, message: string): { outcome: Outcome; told: string } {
  const told = `${status} ${text}`;
  if (status === 404) return { outcome: 'session lost', told };
  const echoed = /agent-\d+ says \d+/.exec(text)?.[0];
  if (echoed !== undefined && echoed !== message) return { outcome: 'wrong', told };
  if (status === 200 && echoed === message && !text.includes('"isError":true')) return { outcome: 'answered', told };
  const isNamed = /"code":"(unavailable|timeout|rate_limited|cancelled)"/.test(text) || /"isError":true/.test(text);
  return { outcome: isNamed ? 'refused' : 'unexplained', told };
}
