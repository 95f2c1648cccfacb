import type { FastifyRequest } from 'fastify';
import { SvcError } from '../../contracts/errors.ts';
import { parseKey } from '../../contracts/keys.ts';
import type { WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { findSystemKey } from './system-keys.ts';

/** Data of a whole workspace, beyond the rights of any key, is for remote-mcp alone. */
export async function requireRemoteMcp(backend: WithGraph & WithSecrets, request: FastifyRequest): Promise<void> {
  const [, text] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const parsed = parseKey(text ?? '');
  if (!parsed.ok || parsed.kind !== 'system') {
    throw new SvcError('unauthenticated', 'This requires a system key: send it as Authorization: Bearer.');
  }
  const systemKey = await findSystemKey(backend, parsed.key);
  if (systemKey === null) throw new SvcError('unauthenticated', 'This system key is not known to the platform.');
  if (systemKey.component !== 'remote-mcp') {
    throw new SvcError('forbidden', `This system key is for ${systemKey.component}, not for remote-mcp.`);
  }
}
