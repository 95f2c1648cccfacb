import type { Logger } from '../../kit/log.ts';
import type { LaunchOrder } from './launch.ts';

/** An MCP server that fails each call, and each start, would fill the log. */
const intervalMs = 10_000;
/** More than a runtime has MCP servers; those that are gone are forgotten with the rest. */
const rememberedMax = 20_000;

type HttpOrder = LaunchOrder<'http'>;

/** What operators read about MCP servers over HTTP: for each of them a line now and then. */
export class HttpLog {
  readonly #logger: Logger;
  readonly #loggedAt = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The body of an error may be a page of anything that listens there. It is in the log, and in no reason. */
  answered({ mcpServer, name }: HttpOrder, { status, said }: { status: number; said: string }): void {
    if (said === '' || !this.#isDue(mcpServer)) return;
    this.#logger.warn({ mcpServer, mcpServerName: name, status, said }, 'answered with an error');
  }

  refused({ mcpServer, name, setBy }: HttpOrder, { message: why, cause: err }: Error): void {
    if (!this.#isDue(mcpServer)) return;
    this.#logger.warn({ mcpServer, mcpServerName: name, setBy, why, err }, 'refused to connect');
  }

  #isDue(mcpServer: string): boolean {
    const now = performance.now();
    if (now - (this.#loggedAt.get(mcpServer) ?? Number.NEGATIVE_INFINITY) < intervalMs) return false;
    if (this.#loggedAt.size >= rememberedMax) this.#loggedAt.clear();
    this.#loggedAt.set(mcpServer, now);
    return true;
  }
}
