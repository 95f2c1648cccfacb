import { BoundedLog } from '../../kit/bounded-log.ts';
import type { Logger } from '../../kit/log.ts';
import type { LaunchOrder } from './launch.ts';

/**
 * An MCP server that fails each call, and each start, would fill the log. So would many that do, such as all of a
 * workspace.
 */
const limits = { linesMax: 1000, linesOfWorkspaceMax: 100 };

type HttpOrder = LaunchOrder<'http'>;

/** The operator's log about MCP servers over HTTP: one line a minute for each of them. */
export class HttpLog {
  readonly #refusals: BoundedLog;

  constructor(logger: Logger) {
    this.#refusals = new BoundedLog(logger, limits);
  }

  /** The body of an error may be any page. It is logged, and never part of a reason. */
  answered({ mcpServer, workspace, name }: HttpOrder, { status, said }: { status: number; said: string }): void {
    if (said === '') return;
    const fields = { mcpServer, mcpServerName: name, status, said };
    this.#refusals.write({ sender: mcpServer, workspace }, fields, 'answered with an error');
  }

  refused({ mcpServer, workspace, name, setBy }: HttpOrder, { message: why, cause: err }: Error): void {
    const fields = { mcpServer, mcpServerName: name, setBy, why, err };
    this.#refusals.write({ sender: mcpServer, workspace }, fields, 'refused to connect');
  }
}
