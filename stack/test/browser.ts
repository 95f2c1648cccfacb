import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The build without a user interface takes less time, but ends requests whenever Docker's suites add a network. */
export const chromiumPath = '/usr/bin/chromium';
export const hasChromium = existsSync(chromiumPath);

const targets = z.array(z.object({ type: z.string(), webSocketDebuggerUrl: z.string() }));
const answer = z.object({
  id: z.number().optional(),
  result: z.object({ result: z.object({ value: z.unknown() }) }).optional(),
});

/** One page in Chromium, which a test asks by the DevTools protocol. */
export class Browser implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  #asked = 0;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
  }

  static async open(url: string): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'svc-browser-'));
    const options = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
    ];
    const child = spawn(chromiumPath, [...options, url], { stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = createInterface({ input: child.stderr });
    for await (const line of lines) {
      const [, host] = /^DevTools listening on ws:\/\/([^/]+)\//.exec(line) ?? [];
      if (host === undefined) continue;
      const found = targets.parse(await (await fetch(`http://${host}/json/list`)).json());
      const page = found.find(({ type }) => type === 'page');
      if (page === undefined) break;
      const socket = new WebSocket(page.webSocketDebuggerUrl);
      await once(socket, 'open');
      child.stderr.resume();
      return new Browser(child, profile, socket);
    }
    child.kill('SIGKILL');
    throw new Error('Chromium shows no page');
  }

  /** The value of an expression in the page. */
  async valueOf(expression: string): Promise<unknown> {
    const id = ++this.#asked;
    const answered = new Promise<unknown>((resolve) => {
      const read = ({ data }: MessageEvent) => {
        const said = answer.parse(JSON.parse(String(data)));
        if (said.id !== id) return;
        this.#socket.removeEventListener('message', read);
        resolve(said.result?.result.value);
      };
      this.#socket.addEventListener('message', read);
    });
    const params = { expression, returnByValue: true, awaitPromise: true };
    this.#socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params }));
    return await answered;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
