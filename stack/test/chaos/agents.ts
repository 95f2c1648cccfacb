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

/** One agent at steady work: the same session for as long as it lasts, at any of the addresses. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #name: string;
  #at: number;
  #session: string | null = null;
  #calls = 0;
  #asking: number | null = null;

  constructor(number: number, options: AgentOptions) {
    this.#options = options;
    this.#name = `agent-${number}`;
    this.#at = number % options.urls.length;
  }

  /** When the call was begun that waits for its answer now. */
  get waitsSince(): number | null {
    return this.#asking;
  }

  async work(signal: AbortSignal): Promise<void> {
    // Agents do not call in step.
    await pause(Math.random() * this.#options.everyMs, undefined, { signal }).catch(() => {});
    while (!signal.aborted) {
      const begun = performance.now();
      await this.#callOnce(begun);
      const rest = this.#options.everyMs - (performance.now() - begun);
      await pause(Math.max(rest, 1), undefined, { signal }).catch(() => {});
    }
  }

  async #callOnce(begun: number): Promise<void> {
    const url = this.#options.urls[this.#at] ?? '';
    const message = `${this.#name} says ${this.#calls++}`;
    this.#asking = begun;
    const { outcome, told } = await this.#ask(url, message);
    this.#asking = null;
    this.#options.onCall({ begun, ended: performance.now(), outcome, url, told: told.slice(0, toldMax) });
    if (outcome === 'session lost') this.#session = null;
    // Whoever is not answered tries the next address, as a client behind a front would be sent there.
    if (outcome === 'unreached') this.#at = (this.#at + 1) % this.#options.urls.length;
  }

  async #ask(url: string, message: string): Promise<{ outcome: Outcome; told: string }> {
    try {
      this.#session ??= await this.#initialize(url);
      const { tool, argument } = this.#options.echo;
      const params = { name: tool, arguments: { [argument]: message } };
      const response = await this.#post(url, { jsonrpc: '2.0', id: this.#calls, method: 'tools/call', params });
      return judge(response.status, await response.text(), message);
    } catch (error) {
      if (error instanceof Refused) return { outcome: 'refused', told: error.message };
      const name = error instanceof Error ? error.name : '';
      return { outcome: name === 'TimeoutError' ? 'late' : 'unreached', told: String(error) };
    }
  }

  async #initialize(url: string): Promise<string> {
    const clientInfo = { name: this.#name, version: '1' };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const response = await this.#post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const text = await response.text();
    const session = response.headers.get('mcp-session-id');
    if (session === null) throw new Refused(`${response.status} ${text}`);
    this.#session = session;
    const ready = await this.#post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
    await ready.text();
    return session;
  }

  #post(url: string, message: object): Promise<Response> {
    return fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#options.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.#session === null ? {} : { 'mcp-session-id': this.#session, 'mcp-protocol-version': protocolVersion }),
      },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(answerDeadlineMs),
    });
  }
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
