import { setClock } from '../contracts/clocks.ts';
import type { SvcError } from '../contracts/errors.ts';
import { answerCalls } from './bus/answer-calls.ts';
import { askWhy } from './bus/ask-why.ts';
import { Assignments, isRefusal } from './bus/assignments.ts';
import { connect, type RuntimeConnection } from './bus/connect.ts';
import { ConnectionComplaints } from './bus/connection-complaints.ts';
import { type RunningHeartbeat, startHeartbeat } from './bus/heartbeat.ts';
import { Reporter } from './bus/reporter.ts';
import { takeCommands } from './bus/take-commands.ts';
import type { Runtime } from './context.ts';

/** The running runtime on the bus. */
export interface Serving {
  /** The missing requirements of its work, as sentences. */
  missing(): readonly string[];
  stop(): Promise<void>;
}

/** Events for the operator's program that the runtime itself only retries. */
export interface Watch {
  /** The runtime is not admitted: its key is unknown, revoked or of the wrong kind, or its settings are wrong. */
  readonly onRefused?: (refusal: SvcError) => void;
  /** A try to reach the platform failed, and none has succeeded yet. */
  readonly onUnreachable?: (problem: SvcError) => void;
  /** The platform's clock differs: both times and the difference. */
  readonly onOtherTime?: (told: string) => void;
}

/** Connects, with retries without a limit, then runs its assignments and answers calls until it is stopped. */
export function serve(runtime: Runtime, watch: Watch = {}): Serving {
  const { onRefused } = watch;
  const { drainMs, supervisor, temporaryFolders } = runtime;
  const complaints = new ConnectionComplaints(runtime.log('bus'));
  const stopping = new AbortController();
  let connectionProblem: string | null = 'it is connecting';
  let work: Work | null = null;
  let lost = new AbortController();

  const onProblem = (problem: SvcError) => {
    connectionProblem = problem.message;
    complaints.tell(problem);
    if (isRefusal(problem)) work?.assignments.drop();
    if (isFinal(problem)) onRefused?.(problem);
  };
  const onConnection = (state: 'connected' | 'disconnected') => {
    lost.abort();
    connectionProblem = state === 'connected' ? null : 'the connection is lost';
    if (state === 'connected') {
      complaints.forget();
      return;
    }
    lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    void askWhy({ open: runtime.bus, signal, onProblem });
  };

  const begun = (async () => {
    const onFirstProblem = (problem: SvcError) => {
      onProblem(problem);
      if (!isFinal(problem)) watch.onUnreachable?.(problem);
    };
    const connection = await connect({ open: runtime.bus, signal: stopping.signal, onProblem: onFirstProblem });
    if (connection === null) return;
    connectionProblem = null;
    complaints.forget();
    work = startWork(runtime, connection, {
      onConnection,
      onRefused: (refusal) => onRefused?.(refusal),
      onOtherTime: (told) => watch.onOtherTime?.(told),
    });
  })();

  return {
    missing() {
      if (stopping.signal.aborted) return ['The runtime is stopping.'];
      if (connectionProblem !== null) return [`Not connected to the bus: ${connectionProblem}`];
      const problem = work?.assignments.problem ?? null;
      if (problem !== null) return [`Not accepted by the backend: ${problem}`];
      return work?.reporter.hasToldAll === true ? [] : ['The backend does not know the state of all MCP servers yet.'];
    },
    async stop() {
      stopping.abort();
      await begun;
      await work?.withdraw();
      const calls = work?.stopAnswering();
      await supervisor.stop(drainMs);
      await calls;
      await work?.leave();
      await temporaryFolders.close();
    },
  };
}

/** A retry does not help without a person's action. */
function isFinal(problem: SvcError): boolean {
  return isRefusal(problem) || problem.code === 'invalid_input' || problem.code === 'unsupported';
}

interface WorkListener {
  readonly onConnection: (state: 'connected' | 'disconnected') => void;
  readonly onRefused: (refusal: SvcError) => void;
  readonly onOtherTime: (told: string) => void;
}

interface Work {
  readonly assignments: Assignments;
  readonly reporter: Reporter;
  /** Withdraws its reports, and answers callers that have not received that yet; returns when no more calls come. */
  withdraw(): Promise<void>;
  /** Takes no more calls; returns when running calls have ended. */
  stopAnswering(): Promise<void>;
  /** Stops reporting, and leaves the bus. */
  leave(): Promise<void>;
}

function startWork(
  { config, home, homes, key, log, supervisor, version }: Runtime,
  connection: RuntimeConnection,
  { onConnection, onRefused, onOtherTime }: WorkListener,
): Work {
  const logger = log('bus');
  const { bus, runtime, process } = connection;
  const { sandbox } = config;
  // Reports from before a broken connection, or to a former backend, are sent again once the assignments are known.
  let tellAll = true;
  const fetchAndTellAll = () => {
    tellAll = true;
    assignments.fetchNow();
  };
  const reporter = new Reporter({ connection, supervisor, logger, onRefused: () => assignments.fetchNow() });
  const assignments: Assignments = new Assignments({
    connection,
    key,
    supervisor,
    homes,
    version,
    sandbox,
    home,
    logger,
    onRefused,
    onOtherTime: (told) => {
      logger.warn({ clocks: told, hint: setClock }, 'found another time at the platform');
      onOtherTime(told);
    },
    onFetched: () => {
      if (tellAll) reporter.tellAll();
      tellAll = false;
    },
  });
  supervisor.listen((mcpServer, what) => reporter[what](mcpServer));
  const calls = answerCalls({ connection, supervisor, logger: log('calls') });
  const onAssignments = () => {
    // A backend that has just started asks, and knows only the processes that send heartbeats.
    heartbeat.beatSoon();
    fetchAndTellAll();
  };
  const commands = takeCommands({ connection, supervisor, logger, onAssignments });
  const connectionWatch = bus.onConnection((state) => {
    logger.warn({ state }, 'changed the connection to the bus');
    onConnection(state);
    if (state === 'connected') fetchAndTellAll();
  });
  const intervalMs = config.heartbeatIntervalMs;
  const heartbeat: RunningHeartbeat = startHeartbeat({ connection, supervisor, version, sandbox, home, intervalMs });
  assignments.start();
  reporter.start();
  logger.info({ runtime, process }, 'connected to the bus');

  return {
    assignments,
    reporter,
    async withdraw() {
      await bus.beginClose();
      await Promise.all([assignments.stop(), commands.stop()]);
      if (await reporter.withdraw()) await calls.quiet();
    },
    async stopAnswering() {
      heartbeat.end();
      await calls.stop();
    },
    async leave() {
      await connectionWatch.stop();
      await bus.close();
    },
  };
}
