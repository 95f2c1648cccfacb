import { oneLine } from '../../services/contracts/one-line.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type IntegrationFragment, integrationsQuery } from '../../stack/client/generated/operations.ts';
import { isoOrNull } from '../output/times-and-sizes.ts';
import { named } from './platform.ts';

/** People know it by the name of its MCP server. */
export type Integration = IntegrationFragment & { readonly name: string };

export async function fetchIntegrations(backend: BackendClient, workspace: string): Promise<readonly Integration[]> {
  const found = await everyPage(
    async (page) => (await backend.send(integrationsQuery, { workspace, ...page })).workspace?.integrations,
  );
  return found.map((one) => ({ ...one, name: oneLine(one.mcpServer?.name ?? one.id) }));
}

export async function getIntegration(backend: BackendClient, workspace: string, given: string): Promise<Integration> {
  return named('integration', await fetchIntegrations(backend, workspace), given);
}

/** The JSON document. */
export function integrationDocument({ mcpServer, ...integration }: Integration) {
  const { expiresAt, refreshedAt, connectedAt } = integration;
  return {
    ...integration,
    mcpServer: mcpServer?.name ?? null,
    ...{ expiresAt: isoOrNull(expiresAt), refreshedAt: isoOrNull(refreshedAt), connectedAt: isoOrNull(connectedAt) },
  };
}
