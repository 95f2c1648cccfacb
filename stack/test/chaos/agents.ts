import { setTimeout as pause } from 'node:timers/promises';

/** What came of one call. `answered` and `refused` are as they should be; `unreached`: the address itself did not answer. */
export type Outcome = 'answered' | 'refused' | 'unreached' | 'wrong' | 'late' | 'unexplained' | 'session lost';

export interface Call {
  /** By `performance.now()`. */
  readonly begun: number;
  readonly ended: number;
  readonly outcome: Outcome;
  readonly url: string;
  /** Of what was said, a little. */
  readonly told: string;
}

export interface AgentOptions {
  readonly urls: readonly string[];
  readonly key: string;
  /** The tool that says back what it is told, and in which argument. */
  readonly echo: { readonly tool: string; readonly argument: string };
  readonly everyMs: number;
  readonly onCall: (call: Call) => void;
}

/** A call may be silent for a minute; what is not answered a little after that never will be. */
const answerDeadlineMs = 70_000;
const protocolVersion = '2025-11-25';
const toldMax = 200;

export type Agent = ReturnType<typeof agentOf>;

/** One agent at steady work: the same session for as long as it lasts, at any of the addresses. */
export function agentOf(number: number, { urls, key, echo, everyMs, onCall }: AgentOptions) {
  const name = `agent-${number}`;
  let at = number % urls.length;
  let session: string | null = null;
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
    if (outcome === 'session lost') session = null;
    // Whoever is not answered tries the next address, as a client behind a front would be sent there.
    if (outcome === 'unreached') at = (at + 1) % urls.length;
  }

  async function ask(url: string, message: string): Promise<{ outcome: Outcome; told: string }> {
    try {
      if (session === null) await initialize(url);
      const params = { name: echo.tool, arguments: { [echo.argument]: message } };
      const response = await post(url, { jsonrpc: '2.0', id: calls, method: 'tools/call', params });
      return judge(response.status, await response.text(), message);
    } catch (error) {
      if (error instanceof Refused) return { outcome: 'refused', told: error.message };
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return { outcome: isLate ? 'late' : 'unreached', told: String(error) };
    }
  }

  async function initialize(url: string): Promise<void> {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name, version: '1' } };
    const response = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const text = await response.text();
    session = response.headers.get('mcp-session-id');
    if (session === null) throw new Refused(`${response.status} ${text}`);
    const ready = await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
    await ready.text();
  }

  function post(url: string, message: object): Promise<Response> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === null ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion }),
    };
    const signal = AbortSignal.timeout(answerDeadlineMs);
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal });
  }

  return {
    work,
    /** When the call was begun that waits for its answer now. */
    waitsSince: () => waitsSince,
  };
}

class Refused extends Error {}

/** An answer must be to this very question, and an error must have a name. */
function judge(status: number, text: string, message: string): { outcome: Outcome; told: string } {
  const told = `${status} ${text}`;
  if (status === 404) return { outcome: 'session lost', told };
  const said = /agent-\d+ says \d+/.exec(text)?.[0];
  if (said !== undefined && said !== message) return { outcome: 'wrong', told };
  if (status === 200 && said === message && !text.includes('"isError":true')) return { outcome: 'answered', told };
  const isNamed = /"code":"(unavailable|timeout|rate_limited|cancelled)"/.test(text) || /"isError":true/.test(text);
  return { outcome: isNamed ? 'refused' : 'unexplained', told };
}
