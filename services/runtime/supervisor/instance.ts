import { setTimeout as pause } from 'node:timers/promises';
import { type Assignment, type Challenge, type Reason, shownReason } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { howToRaise } from '../../contracts/mcp-server-deadlines.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import type { Channel, ChannelListener } from '../launchers/channel.ts';
import type { Launched, Launchers } from '../launchers/launch.ts';
import { type Redact, type SeenAuthorization, seeAuthorization } from '../launchers/redact.ts';
import { settledWithin } from '../time/settled-within.ts';
import type { Answer, Call } from './call.ts';
import { Conversation } from './conversation.ts';
import { greet } from './greet.ts';
import { listTools, noTools, type ToolList } from './tool-list.ts';

export interface InstanceOptions {
  readonly assignment: Assignment;
  /** The present value of the header Authorization. */
  readonly authorization: () => string | undefined;
  readonly launchers: Launchers;
  readonly version: string;
  readonly listener: InstanceListener;
  readonly logger: Logger;
  /** From the launch to the list of tools. */
  readonly startMaxMs: number;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

export interface InstanceListener {
  toolsChanged(tools: ToolList): void;
  /** The list changed and could not be read; it will be retried. */
  toolsUnreadable(reason: Reason): void;
  garbage(sample: string, bug?: unknown): void;
  doubted(): void;
}

export type StartedInstance =
  | { readonly ok: true; readonly instance: Instance; readonly tools: ToolList }
  | { readonly ok: false; readonly reason: Reason; readonly lastWords: readonly string[] };

export type PingOutcome = 'prompt' | 'slow' | 'none';

const listMaxMs = 30_000;
const pingMaxMs = 10_000;
const slowPingMs = 1000;
/** The delay grows for an MCP server that changes its list endlessly. */
const refreshFirstMs = 200;
const refreshMaxMs = 10_000;
/** A pipe breaks a moment before its process is seen to end. */
const endNoticeMs = 600;

/** Starts one instance of an MCP server: launch, handshake, list of tools. A failed start leaves nothing behind. */
export async function startInstance(options: InstanceOptions): Promise<StartedInstance> {
  const instance = new Instance(options);
  const launched = await instance.launch();
  if (!launched.ok) return { ...launched, lastWords: [] };
  const giveUp = () => instance.close(new SvcError('cancelled', 'The start was given up.'));
  options.signal.addEventListener('abort', giveUp, { once: true });
  if (options.signal.aborted) giveUp();
  const begun = await instance.begin();
  options.signal.removeEventListener('abort', giveUp);
  if (begun.ok) return { ok: true, instance, tools: begun.tools };
  await instance.stop();
  return { ok: false, reason: begun.reason, lastWords: instance.lastWords() };
}

type BeginResult = { readonly ok: true; readonly tools: ToolList } | { readonly ok: false; readonly reason: Reason };

/** One running MCP server that can take requests. */
export class Instance {
  readonly #options: InstanceOptions;
  readonly #conversation: Conversation;
  readonly #seen: SeenAuthorization;
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<Reason>();
  #channel: Channel | null = null;
  #strayOutput = '';
  #endReason: Reason | null = null;
  #refreshing = false;
  #refreshAgain = false;
  #offersTools = false;

  constructor(options: InstanceOptions) {
    this.#options = options;
    const { assignment, authorization } = options;
    this.#seen = seeAuthorization({ launch: assignment.launch, authorization });
    this.#conversation = new Conversation(assignment.name, {
      toolsChanged: () => void this.#refresh(),
      garbage: (sample, bug) => this.#garbage(sample, bug),
      doubted: () => options.listener.doubted(),
    });
  }

  /** Resolves when it ends without having been stopped. */
  get ended(): Promise<Reason> {
    return this.#ended.promise;
  }

  get inFlight(): number {
    return this.#conversation.inFlight;
  }

  idle(): Promise<void> {
    return this.#conversation.idle();
  }

  get silentForMs(): number {
    return this.#conversation.silentForMs;
  }

  call(call: Call): Promise<Answer> {
    return this.#conversation.call(call);
  }

  lastWords(): readonly string[] {
    return this.#channel?.lastWords() ?? [];
  }

  /** An answer of any kind is a sign of life: not every MCP server knows `ping`. */
  async ping(): Promise<PingOutcome> {
    const before = performance.now();
    try {
      await this.#conversation.ask('ping', undefined, pingMaxMs);
      return performance.now() - before > slowPingMs ? 'slow' : 'prompt';
    } catch {
      return 'none';
    }
  }

  /** Fails open requests and takes no more. */
  close(error: SvcError): void {
    this.#over.abort();
    this.#conversation.close(error);
  }

  async stop(): Promise<void> {
    this.close(new SvcError('unavailable', `MCP server "${this.#options.assignment.name}" has been stopped.`));
    await this.#channel?.stop();
  }

  async launch(): Promise<Launched> {
    const launched = await launchWith(
      { ...this.#options, ...this.#seen },
      {
        message: (text, during) => this.#conversation.hear(text, during),
        lost: (id, error) => this.#conversation.lost(id, error),
        garbage: (sample) => this.#garbage(sample),
        renewed: () => void this.#refresh(),
        ended: (reason) => this.#end(reason),
      },
    );
    if (launched.ok) {
      this.#channel = launched.channel;
      this.#conversation.begin(launched.channel);
    }
    return launched;
  }

  async begin(): Promise<BeginResult> {
    const { signal, startMaxMs, version } = this.#options;
    const deadline = performance.now() + startMaxMs;
    try {
      const greeting = await greet(this.#conversation, version, startMaxMs);
      if (!greeting.ok) return { ok: false, reason: this.#redacted(greeting.reason) };
      this.#offersTools = greeting.offersTools;
      const tools = this.#offersTools ? await listTools(this.#conversation, deadline - performance.now()) : noTools;
      return { ok: true, tools };
    } catch (error) {
      if (!signal.aborted) await settledWithin(this.ended, endNoticeMs);
      const reason = this.#endReason ?? this.#whyNotBegun(withBugReported(error, this.#options.logger));
      const stray = this.#strayOutput === '' ? '' : ` It wrote output that is not MCP: "${this.#strayOutput}".`;
      return { ok: false, reason: this.#redacted({ ...reason, message: `${reason.message}${stray}` }) };
    }
  }

  #end(cause: Reason): void {
    const reason = this.#redacted(cause);
    this.#endReason = reason;
    const { name } = this.#options.assignment;
    const summary = reason.message.split('\n', 1)[0] ?? '';
    const hint = `Show the reason: svc server show ${name}`;
    this.close(new SvcError('unavailable', `MCP server "${name}" is restarting. ${summary}`, { hint }));
    this.#ended.resolve(reason);
  }

  #whyNotBegun(error: SvcError): Reason {
    const { assignment, startMaxMs } = this.#options;
    if (error.code === 'timeout') {
      return {
        code: 'no_answer',
        message: `It did not answer the MCP handshake within ${startMaxMs / 1000} s (startTimeout).`,
        repair: `${noAnswerRepairs[assignment.launch.kind]} ${howToRaise('startTimeout', { mcpServer: assignment.name, isMs: startMaxMs })}`,
      };
    }
    return {
      code: error.code === 'unavailable' ? 'not_usable' : error.code,
      message: error.message,
      repair: error.hint ?? `Read its last words: svc server logs ${assignment.name}`,
    };
  }

  #garbage(sample: string, bug?: unknown): void {
    const shown = this.#seen.redact(sample);
    // A URL may answer with any page, and members and agents read reasons; only the log has it.
    if (this.#options.assignment.launch.kind === 'child') this.#strayOutput ||= shown;
    this.#options.listener.garbage(shown, bug);
  }

  /** A reason quotes the MCP server, whose text may contain its secrets. */
  #redacted({ code, message, repair, challenge }: Reason): Reason {
    const { redact } = this.#seen;
    const claims = challenge === undefined ? {} : { challenge: redactedClaims(challenge, redact) };
    return shownReason({ code, message: redact(message), repair, ...claims });
  }

  /** One reading at a time; a change during it causes another. */
  async #refresh(): Promise<void> {
    this.#refreshAgain = true;
    if (this.#refreshing || !this.#offersTools) return;
    this.#refreshing = true;
    const { signal } = this.#over;
    for (
      let waitMs = refreshFirstMs;
      this.#refreshAgain && !signal.aborted;
      waitMs = Math.min(2 * waitMs, refreshMaxMs)
    ) {
      await pause(waitMs, undefined, { signal }).catch(() => {});
      this.#refreshAgain = false;
      if (!signal.aborted) await this.#readTools();
    }
    this.#refreshing = false;
  }

  async #readTools(): Promise<void> {
    try {
      this.#options.listener.toolsChanged(await listTools(this.#conversation, listMaxMs));
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#refreshAgain = true;
      const { message } = withBugReported(error, this.#options.logger);
      this.#options.listener.toolsUnreadable(this.#redacted(unreadableAgain(message)));
    }
  }
}

function redactedClaims({ resourceMetadata, scope }: Challenge, redact: Redact): Challenge {
  return {
    ...(resourceMetadata === undefined ? {} : { resourceMetadata: redact(resourceMetadata) }),
    ...(scope === undefined ? {} : { scope: redact(scope) }),
  };
}

function unreadableAgain(why: string): Reason {
  return {
    code: 'tools_unreadable',
    message: `Its tools changed and could not be listed again. ${why}`,
    repair: 'It is asked again automatically; restart it if this persists.',
  };
}

const noAnswerRepairs: { readonly [Kind in Assignment['launch']['kind']]: string } = {
  child:
    'Check that command and arguments start an MCP server on stdio, and that it does not wait for input or a download.',
  http: 'Check that the URL is that of an MCP server with Streamable HTTP, and that no proxy holds its answers back.',
};

function launchWith(
  { assignment, authorization, launchers }: InstanceOptions,
  listener: ChannelListener,
): Promise<Launched> {
  const { mcpServer, workspace, name, launch, setBy = 'operator' } = assignment;
  switch (launch.kind) {
    case 'child':
      return launchers.child({ mcpServer, workspace, name, setBy, launch, listener });
    case 'http':
      return launchers.http({ mcpServer, workspace, name, setBy, launch, listener, authorization });
  }
}
