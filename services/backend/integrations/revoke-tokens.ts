import * as openid from 'openid-client';
import type { WithLog } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { Integrations } from './integrations.ts';
import { read } from './kept.ts';
import { openidConfiguration } from './provider-client.ts';

type RevocationNeeds = WithSecrets & WithLog & { readonly integrations: Integrations };

/** Revokes the tokens that the platform has forgotten (RFC 7009), whatever the provider answers. It throws nothing. */
export async function revokeTokensOf(backend: RevocationNeeds, integration: Node<'integration'>): Promise<void> {
  const { workspace } = integration;
  try {
    const tokens = read(backend, integration, 'tokens');
    if (tokens?.provider.revocation_endpoint === undefined) return;
    const { provider, client, refreshToken, accessToken } = tokens;
    const { fetch, queue } = backend.integrations;
    const configuration = openidConfiguration(fetch, provider, client);
    await queue.run(workspace, () => openid.tokenRevocation(configuration, refreshToken ?? accessToken));
  } catch {
    const { id, issuer } = integration;
    const host = issuer === null ? null : new URL(issuer).host;
    backend
      .log('integrations')
      .info({ workspace, integration: id, host }, 'could not revoke the tokens of an integration');
  }
}
