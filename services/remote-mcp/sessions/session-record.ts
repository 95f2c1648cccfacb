import { z } from 'zod';
import { id } from '../../contracts/id-schema.ts';
import type { KeyId, WorkspaceId } from '../../contracts/ids.ts';
import { type Disclosure, skillsMax } from './disclosure.ts';
import { type LogLevel, logLevels, type ProtocolVersion, protocolVersions } from './protocol.ts';

const rolesMax = 10_000;
const roles = z.array(id('role')).max(rolesMax);

/** A session as it lies in the bucket, from where any remote-mcp can go on with it. */
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

/** What a session is apart from whose it is, and apart from what only its holder knows. */
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

/** Null where it is not this key's, or was written by a version that this one doesn't know. */
export function parseRecord(value: Uint8Array, key: KeyId): SessionRecord | null {
  const parsed = sessionRecord.safeParse(JSON.parse(Buffer.from(value).toString()));
  return parsed.success && parsed.data.key === key ? parsed.data : null;
}
