import type { LargeMessages } from '../../kit/http/large-messages.ts';
import type { CallParts } from '../calls/call.ts';
import type { Catalogues } from '../catalogue/catalogues.ts';
import type { AgentMemory } from '../http/agent-memory.ts';
import type { SessionMessages } from '../sessions/session-messages.ts';
import type { SessionStreams } from '../sessions/session-streams.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { ListChanges } from '../tools/list-changes.ts';

/** The parts of remote-mcp that a revision of MCP uses. */
export interface WireParts extends CallParts {
  readonly version: string;
  readonly memory: AgentMemory;
  readonly largeMessages: LargeMessages;
  readonly catalogues: Catalogues;
  readonly sessions: Sessions;
  readonly streams: SessionStreams;
  readonly messages: SessionMessages;
  readonly listChanges: ListChanges;
}
