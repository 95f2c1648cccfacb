import { z } from 'zod';
import { id } from '../../contracts/id-schema.ts';
import type { KeyId, WorkspaceId } from '../../contracts/ids.ts';
import { type Disclosure, skillsMax } from './disclosure.ts';
import { type LogLevel, logLevels, type ProtocolVersion, protocolVersions } from './protocol.ts';

const rolesMax = 10_000;
const roles = z.array(id('role')).max(rolesMax);

/** A session's record in the bucket. Any remote-mcp can continue the session from it. */
const sessionRecord = z.object({
  v: z.literal(1),
  key: id('key'),
  workspace: id('workspace'),
  protocol: z.enum(protocolVersions),
  logLevel: z.enum(logLevels),
  disclosure: z.object({
    choice: z.object({ kind: z.enum(['all_but', 'only']), roles }),
    skills: z.array(id('skill')).max(skillsMax),
    roles,
  }),
});

/** The state of a session that all remote-mcps share, without its owner. */
export interface SessionState {
  readonly protocol: ProtocolVersion;
  readonly logLevel: LogLevel;
  readonly disclosure: Disclosure;
}
export interface SessionRecord extends SessionState {
  readonly key: KeyId;
  readonly workspace: WorkspaceId;
}

export function formatRecord(
  { key, workspace }: Pick<SessionRecord, 'key' | 'workspace'>,
  state: SessionState,
): Uint8Array {
  const { protocol, logLevel, disclosure } = state;
  return Buffer.from(JSON.stringify({ v: 1, key, workspace, protocol, logLevel, disclosure }));
}

/** Null if the record belongs to another key, or has an unknown version. */
export function parseRecord(value: Uint8Array, key: KeyId): SessionRecord | null {
  const parsed = sessionRecord.safeParse(JSON.parse(Buffer.from(value).toString()));
  return parsed.success && parsed.data.key === key ? parsed.data : null;
}
