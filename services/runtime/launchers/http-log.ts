import type { Logger } from '../../kit/log.ts';
import { RefusalLog } from '../../kit/refusal-log.ts';
import type { LaunchOrder } from './launch.ts';

/** An MCP server that fails each call, and each start, would fill the log. So would many that do. */
const linesMax = 1000;

type HttpOrder = LaunchOrder<'http'>;

/** What operators read about MCP servers over HTTP: for each of them a line a minute. */
export class HttpLog {
  readonly #refusals: RefusalLog;

  constructor(logger: Logger) {
    this.#refusals = new RefusalLog(logger, { linesMax });
  }

  /** The body of an error may be a page of anything that listens there. It is in the log, and in no reason. */
  answered({ mcpServer, name }: HttpOrder, { status, said }: { status: number; said: string }): void {
    if (said === '') return;
    this.#refusals.write(mcpServer, { mcpServer, mcpServerName: name, status, said }, 'answered with an error');
  }

  refused({ mcpServer, name, setBy }: HttpOrder, { message: why, cause: err }: Error): void {
    this.#refusals.write(mcpServer, { mcpServer, mcpServerName: name, setBy, why, err }, 'refused to connect');
  }
}
