import { setTimeout as pause } from 'node:timers/promises';
import { type Report, reportReply, type ServerReport } from '../../contracts/bus/messages.ts';
import { reportLines } from '../../contracts/bus/report-lines.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { toSvcError } from '../../contracts/errors.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { Logger } from '../../kit/log.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { ToolList } from '../supervisor/tool-list.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import { untilAborted } from '../time/until-aborted.ts';
import type { RuntimeConnection } from './connect.ts';

export interface ReporterOptions {
  readonly connection: RuntimeConnection;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
  /** The backend says that some of the MCP servers do not belong to this runtime. */
  readonly onRefused: () => void;
}

/**
 * Changes arrive in bursts: a start is four of them. Each report of a burst gathers for longer, up to five reports a
 * second, which leaves half of the bus's allowance to handshakes.
 */
const gathering = { firstMs: 50, moreMs: 20, maxMs: 200 };
/** A burst has ended when nothing has changed for this long. */
const quietMs = 1000;
const answerMaxMs = 30_000;
/** A stop does not wait longer for the report; the backend notices the end of the process by itself. */
const withdrawMaxMs = 2000;
const faultsLoggedMax = 10;
const retry: Backoff = { firstMs: 200, maxMs: 5000 };
/**
 * Tools and stderr lines in one report; the rest of both comes with the next. The required entries of a complete report
 * come on top, and have the room up to the 16 MiB of a message.
 */
const reportMaxBytes = 12 * 1024 * 1024;

/** The acknowledged report of one MCP server. */
interface AcknowledgedReport {
  readonly report: string;
  readonly tools: ToolList | null;
}

interface Composed {
  readonly report: Report;
  readonly tools: ReadonlyMap<McpServerId, ToolList>;
}

/**
 * Reports the state of MCP servers to the backend. A report is a current state, not an event, so repeating it does no
 * harm and a lost one is replaced by the next. Texts are cut and cleaned to the lengths of the contract, because older
 * backends reject a whole report for one entry.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #told = new Map<McpServerId, AcknowledgedReport>();
  readonly #changed = new Set<McpServerId>();
  readonly #stopping = new AbortController();
  #complete = false;
  #hasToldAll = false;
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Whether the backend has a report, possibly an old one, of every MCP server here. */
  get hasToldAll(): boolean {
    return this.#hasToldAll;
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  changed(mcpServer: McpServerId): void {
    this.#changed.add(mcpServer);
    this.#wake.abort();
  }

  /** An MCP server no longer belongs to this runtime: a complete report without it says so. */
  gone(mcpServer: McpServerId): void {
    this.#told.delete(mcpServer);
    this.#complete = true;
    this.#wake.abort();
  }

  /** The backend may have lost all reports, so everything is reported again, tools too. */
  tellAll(): void {
    this.#told.clear();
    this.#complete = true;
    this.#wake.abort();
  }

  /** Withdraws all reports and sends no more, so that no call comes here. False when the backend did not receive it. */
  async withdraw(): Promise<boolean> {
    await this.stop();
    const { bus, runtime, process } = this.#options.connection;
    const nothing: Report = { complete: true, mcpServers: [] };
    try {
      const payload = await written(reportLines(nothing, () => []));
      await bus.request(subjects.report(runtime, process), payload, { timeoutMs: withdrawMaxMs });
      return true;
    } catch (thrown) {
      this.#options.logger.debug({ err: toSvcError(thrown) }, 'failed to report the stop');
      return false;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let gatherMs = gathering.firstMs - gathering.moreMs;
    for (let failures = 0; !signal.aborted; ) {
      const since = performance.now();
      if (!this.#complete && this.#changed.size === 0) await untilAborted(this.#wake.signal);
      const isQuiet = performance.now() - since > quietMs;
      gatherMs = isQuiet ? gathering.firstMs : Math.min(gatherMs + gathering.moreMs, gathering.maxMs);
      await pause(gatherMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      this.#wake = new AbortController();
      failures = (await this.#tell(failures)) ? 0 : failures + 1;
      const waitMs = failures === 0 ? 0 : backoffMs(retry, failures, Math.random());
      if (waitMs > 0) await pause(waitMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  /** True when every requested part was reported and acknowledged. */
  async #tell(failures: number): Promise<boolean> {
    const { logger, supervisor } = this.#options;
    const complete = this.#complete;
    const about = complete ? supervisor.ids : [...this.#changed];
    this.#complete = false;
    this.#changed.clear();
    const composed = this.#compose(complete, about);
    if (!complete && composed.report.mcpServers.length === 0) return true;
    try {
      await this.#send(composed);
      this.#hasToldAll ||= complete;
      return true;
    } catch (thrown) {
      // Only the first failure of a series is a warning.
      const level = failures === 0 && !this.#stopping.signal.aborted ? 'warn' : 'debug';
      logger[level]({ err: toSvcError(thrown) }, 'failed to report');
      this.#complete ||= complete;
      for (const mcpServer of about) this.#changed.add(mcpServer);
      return false;
    }
  }

  async #send({ report, tools }: Composed): Promise<void> {
    const { connection, logger, onRefused, supervisor } = this.#options;
    const payload = await written(reportLines(report, (mcpServer) => tools.get(mcpServer)?.tools ?? []));
    const subject = subjects.report(connection.runtime, connection.process);
    const reply = await connection.bus.request(subject, payload, {
      timeoutMs: answerMaxMs,
      signal: this.#stopping.signal,
    });
    const { refused, faults = [] } = reportReply.parse(JSON.parse(Buffer.from(reply.payload).toString()));
    for (const said of report.mcpServers) this.#acknowledged(said, tools.get(said.mcpServer) ?? null);
    if (faults.length > 0) {
      logger.warn(
        { faults: faults.slice(0, faultsLoggedMax), count: faults.length },
        'the backend refused a part of a report',
      );
    }
    if (refused.some((id) => supervisor.ids.includes(id))) onRefused();
  }

  /** Only the parts that the backend lacks, as many as fit; the rest comes with the next report. */
  #compose(complete: boolean, about: readonly McpServerId[]): Composed {
    const tools = new Map<McpServerId, ToolList>();
    const mcpServers: ServerReport[] = [];
    let bytes = 0;
    const fits = (moreBytes: number) => bytes === 0 || bytes + moreBytes <= reportMaxBytes;
    for (const mcpServer of about) {
      const snapshot = this.#options.supervisor.snapshot(mcpServer);
      if (snapshot === null) continue;
      const { report } = snapshot;
      const text = JSON.stringify(report);
      const told = this.#told.get(mcpServer);
      const news = told?.tools === snapshot.tools ? null : snapshot.tools;
      if (!complete && news === null && told?.report === text) continue;
      const textBytes = Buffer.byteLength(text);
      const newsBytes = news?.bytes ?? 0;
      if (fits(textBytes + newsBytes)) {
        bytes += textBytes + newsBytes;
        if (news !== null) tools.set(mcpServer, news);
        mcpServers.push(news === null ? report : { ...report, tools: news.tools.length });
        continue;
      }
      this.#changed.add(mcpServer);
      if (complete) mcpServers.push({ ...report, stderr: [] });
    }
    return { report: { complete, mcpServers }, tools };
  }

  #acknowledged({ tools: _count, ...report }: ServerReport, tools: ToolList | null): void {
    const known = tools ?? this.#told.get(report.mcpServer)?.tools ?? null;
    this.#told.set(report.mcpServer, { report: JSON.stringify(report), tools: known });
  }
}

/** Writing five thousand tools takes thirty milliseconds. */
async function written(lines: Iterable<string>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const line of lines) {
    await giveWay();
    parts.push(Buffer.from(`${line}\n`));
  }
  return Buffer.concat(parts);
}
