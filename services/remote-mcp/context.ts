import { SvcError } from '../contracts/errors.ts';
import type { Hub } from '../kit/bus/bus.ts';
import { openBus } from '../kit/bus/open-bus.ts';
import { LargeMessages } from '../kit/http/large-messages.ts';
import type { Log } from '../kit/log.ts';
import { checkKey } from './auth/check-key.ts';
import { Principals } from './auth/principals.ts';
import { BusLink } from './bus/bus-link.ts';
import { CallRouter } from './calls/call-router.ts';
import { CatalogueWaits } from './catalogue/catalogue-waits.ts';
import { Catalogues } from './catalogue/catalogues.ts';
import { pullCatalogue } from './catalogue/pull.ts';
import type { Config } from './config.ts';
import { type AgentMemory, agentMemory } from './http/agent-memory.ts';
import type { BackendAddress } from './http/ask-backend.ts';
import { RuntimeProcesses } from './routing/runtime-processes.ts';
import { SessionMessages } from './sessions/session-messages.ts';
import { SessionStreams } from './sessions/session-streams.ts';
import { Sessions } from './sessions/sessions.ts';
import { ListChanges } from './tools/list-changes.ts';
import { fileReader, type ReadFile } from './tools/read-file.ts';
import { UsageLog } from './usage/usage-log.ts';

/** All dependencies of remote-mcp, built once. Functions take the parts they need: `Pick<RemoteMcp, 'sessions'>`. */
export interface RemoteMcp {
  readonly config: Config;
  /** Version of the program. */
  readonly version: string;
  readonly log: Log;
  readonly link: BusLink;
  readonly principals: Principals;
  readonly processes: RuntimeProcesses;
  readonly catalogues: Catalogues;
  readonly waits: CatalogueWaits;
  readonly sessions: Sessions;
  readonly streams: SessionStreams;
  readonly messages: SessionMessages;
  readonly listChanges: ListChanges;
  readonly router: CallRouter;
  readonly readFile: ReadFile;
  /** How long a call may be silent, for MCP servers without their own deadline. */
  readonly silenceMaxMs: number;
  readonly usage: UsageLog;
  readonly memory: AgentMemory;
  readonly largeMessages: LargeMessages;
}

export interface Surroundings {
  readonly config: Config;
  readonly hub: Hub | null;
  readonly version: string;
  readonly log: Log;
}

/** Builds every part; none of them does anything before it is started. */
export function buildRemoteMcp({ config, hub, version, log }: Surroundings): RemoteMcp {
  const credentials = { kind: 'system', component: 'remote-mcp', key: config.SYSTEM_KEY } as const;
  const open = () =>
    openBus({
      ...{ servers: config.BUS_SERVERS, caPath: config.BUS_CA_PATH, persistent: config.BUS_PERSISTENT_MESSAGING },
      ...{ credentials, hub, logger: log('bus') },
    });
  const link = new BusLink({ open, log: log('bus') });
  const usage = new UsageLog(link, log('usage'));
  const principals = new Principals({ checkKey: (key) => checkKey(link, key), onUsed: (used) => usage.keyUsed(used) });
  const messages = new SessionMessages(link, log('sessions'));
  const streams = new SessionStreams({
    onListening: (workspace) => catalogues.keep(workspace),
    tell: (session, message) => messages.tell(session, message),
  });
  const sessions = new Sessions({
    ...{ link, messages, log: log('sessions') },
    idleTimeoutMs: config.SVC_SESSION_IDLE_TIMEOUT_MS,
    isListening: (session) => streams.has(session),
    onDrop: (session) => streams.endSession(session),
  });
  const waits = new CatalogueWaits();
  const processes = new RuntimeProcesses(() => {
    waits.lookAgain();
    void listChanges.ofAll();
  });
  const catalogues = new Catalogues({
    pull: (workspace, asked, signal) => pullCatalogue(workspace, { asked, signal, processes, ...backend() }),
    onChange: (present) => {
      waits.changed(present);
      void listChanges.ofWorkspace(present.workspace);
    },
    log: log('catalogue'),
  });
  const listChanges = new ListChanges({ catalogues, streams });
  const router = new CallRouter(link, log('calls'));

  function backend(): BackendAddress {
    const backendUrl = config.PRIVATE_BACKEND_URL ?? link.hello?.backendUrl;
    if (backendUrl !== undefined) return { backendUrl, systemKey: config.SYSTEM_KEY };
    throw new SvcError('unavailable', 'The address of the backend is not known yet: the backend has not answered.');
  }

  return {
    ...{ config, version, log, link, principals, processes },
    ...{ catalogues, waits, sessions, streams, messages, listChanges, router, usage },
    readFile: fileReader(backend),
    silenceMaxMs: 1000 * config.MCP_SERVER_CALL_TIMEOUT_SECONDS,
    memory: agentMemory(),
    largeMessages: new LargeMessages(),
  };
}
