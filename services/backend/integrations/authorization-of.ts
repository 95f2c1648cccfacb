import type { Launch } from '../../contracts/bus/messages.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { isSameUrl } from './integrations.ts';
import { read } from './kept.ts';

type AuthorizationNeeds = WithGraph & WithSecrets & WithLog;

/** The header of the present token, only for the URL that a person connected. Unreadable tokens count as none. */
export async function authorizationOf(
  backend: AuthorizationNeeds,
  { id: mcpServer, workspace, tokenVersion }: Node<'mcpServer'>,
  launch: Launch,
): Promise<{ readonly authorization?: string }> {
  if (tokenVersion === null || launch.kind !== 'http') return {};
  const integration = await backend.graph.findBy('integration', { mcpServer }, workspace);
  if (integration === null) return {};
  try {
    const tokens = read(backend, integration, 'tokens');
    const isFor = tokens !== null && isSameUrl(new URL(tokens.url), new URL(launch.url));
    return isFor ? { authorization: `Bearer ${tokens.accessToken}` } : {};
  } catch (err) {
    backend.log('integrations').error({ err, mcpServer, workspace }, 'failed to decrypt the tokens of an integration');
    return {};
  }
}
