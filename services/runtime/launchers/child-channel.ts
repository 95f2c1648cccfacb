import { finished } from 'node:stream/promises';
import type { Reason } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { payloadMaxBytes } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { settledWithin } from '../time/settled-within.ts';
import { LineReader } from '../wire/line-reader.ts';
import { responseIdFromEnds } from '../wire/read-message.ts';
import type { Channel } from './channel.ts';
import type { LaunchOrder } from './launch.ts';
import type { LineAllowance } from './line-allowance.ts';
import type { Program } from './program.ts';
import { readFairly } from './read-fairly.ts';
import { createRedact } from './redact.ts';
import { StderrTail } from './stderr-tail.ts';

export interface ChildChannelOptions {
  readonly order: LaunchOrder<'child'>;
  /** Null: the log takes no lines of standard error. */
  readonly forwarded: LineAllowance | null;
  readonly log: Log;
  /** Called when no process of it is left. */
  readonly clearAway: () => Promise<void>;
}

/** A result of the largest size of the bus, with its envelope. */
export const lineMaxBytes = payloadMaxBytes + 1024;
/** Unread data for a child: one message of the largest size and another. */
const queueMaxBytes = 2 * payloadMaxBytes;
/** MCP 2025-11-25, "Lifecycle", Shutdown: close its input, wait, SIGTERM, wait, SIGKILL. */
const closedInputGraceMs = 250;
const askedToEndGraceMs = 2000;
/** The output of an ended child is read to its end, unless a grandchild keeps the pipe open. */
const lastOutputMs = 200;

/** The stdio transport of MCP 2025-11-25 ("Transports"): one message a line. */
export class ChildChannel implements Channel {
  readonly #program: Program;
  readonly #options: ChildChannelOptions;
  readonly #tail: StderrTail;
  #stopped: Promise<void> | null = null;
  #over = false;

  constructor(program: Program, options: ChildChannelOptions) {
    this.#program = program;
    this.#options = options;
    this.#tail = this.#readStderr();
    this.#readStdout();
    void this.#watchExit();
    this.#watchPipes();
  }

  send(message: Buffer): void {
    const { stdin } = this.#program;
    const { name } = this.#options.order;
    if (!stdin.writable) throw new SvcError('unavailable', `MCP server "${name}" has closed its input.`);
    if (stdin.writableLength > 0 && stdin.writableLength + message.length > queueMaxBytes) {
      throw new SvcError('rate_limited', `MCP server "${name}" does not read its input.`, {
        hint: `Show its state: svc server show ${name}`,
      });
    }
    if (stdin.writableCorked === 0) {
      // Messages of one turn of the event loop are written together.
      stdin.cork();
      setImmediate(() => stdin.uncork());
    }
    stdin.write(message);
  }

  forget(): void {} // stdio has no connection per request; a late answer is ignored.

  lastWords(): readonly string[] {
    return this.#tail.lines();
  }

  stop(): Promise<void> {
    this.#over = true;
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<void> {
    const { log, order, clearAway } = this.#options;
    const { stdin, exited } = this.#program;
    await this.#program.aboutToEnd();
    stdin.end();
    await settledWithin(exited, closedInputGraceMs);
    try {
      await this.#program.end(askedToEndGraceMs);
    } catch (err) {
      log('launchers').error({ err, mcpServer: order.mcpServer }, 'failed to end an MCP server');
    }
    await clearAway().catch(() => {});
  }

  #readStdout(): void {
    const { listener, name } = this.#options.order;
    const lines = new LineReader(lineMaxBytes, {
      line(line) {
        if (line.length > 1) listener.message(line, null);
      },
      overlong({ head, tail, bytes }) {
        const id = responseIdFromEnds(head, tail);
        if (id === null) listener.garbage(`a line of ${bytes} bytes`);
        else listener.lost(id, new SvcError('too_large', tooLarge(name, bytes)));
      },
    });
    readFairly(
      this.#program.stdout,
      (chunk) => lines.push(chunk),
      () => lines.isDropping,
    );
    this.#program.stdout.on('end', () => lines.end());
  }

  #readStderr(): StderrTail {
    const { forwarded, log, order } = this.#options;
    const { mcpServer } = order;
    const logger = log(`mcp-server.${order.name}`);
    const forward = (line: string) => {
      const taken = forwarded?.take(order) ?? 'silent';
      if (taken === 'write') logger.info({ mcpServer, stderr: line }, 'wrote to standard error');
      if (taken === 'over') logger.warn({ mcpServer }, 'left out more lines of standard error for a minute');
    };
    const tail = new StderrTail(createRedact(order.launch), forward);
    readFairly(this.#program.stderr, (chunk) => tail.push(chunk));
    return tail;
  }

  async #watchExit(): Promise<void> {
    const { stdout, stderr, exited, explain } = this.#program;
    const closed = Promise.allSettled([finished(stdout), finished(stderr)]);
    const { code, signal } = await exited;
    await settledWithin(closed, lastOutputMs);
    const { name, launch } = this.#options.order;
    this.#ended(explain({ name, command: launch.command, code, signal, stderr: this.lastWords() }));
  }

  #watchPipes(): void {
    const { stdin, stdout, stderr, exited, exitAfterPipeMs } = this.#program;
    const broken = async (reason: Reason) => {
      if (!(await settledWithin(exited, exitAfterPipeMs))) this.#ended(reason);
    };
    stdin.on('error', () => void broken(closedPipe('input')));
    stdout.on('error', () => {}).on('end', () => void broken(closedPipe('output')));
    stderr.on('error', () => {});
  }

  #ended(reason: Reason): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.order.listener.ended(reason);
  }
}

function tooLarge(name: string, bytes: number): string {
  return `MCP server "${name}" answered with ${bytes} bytes; a result may have ${payloadMaxBytes} at most.`;
}

function closedPipe(which: 'input' | 'output'): Reason {
  return {
    code: 'closed_pipe',
    message: `It closed its standard ${which} and kept running.`,
    repair: 'Check that it was started as an MCP server on stdio: some programs need an argument for that.',
  };
}
