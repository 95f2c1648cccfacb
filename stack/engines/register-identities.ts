import { type BackendClient, openBackendClient } from '../client/backend-client.ts';
import {
  anyWorkspaceQuery,
  createWorkspaceMutation,
  registerSystemKeysMutation,
} from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret, type SecretFiles } from '../secrets/secrets.ts';
import type { Definition } from '../settings/definition.ts';

const firstWorkspace = 'Default';

export interface Registration {
  readonly backend: BackendClient;
  readonly definition: Definition;
  readonly secrets: SecretFiles;
  readonly signal: AbortSignal;
}

/** Registers the identities of a plan at a backend that is ready. */
export async function registerAt(url: string, plan: Plan, signal: AbortSignal): Promise<void> {
  const { definition, installation, parts, secrets } = plan;
  const tokens = operatorTokens(installation, firstOf('backend', parts).variables.JWT_ISSUER);
  await registerIdentities({ backend: openBackendClient([url], tokens), definition, secrets, signal });
}

/** Registers the two system keys. In an empty platform it also makes the first workspace with its owner. Idempotent. */
export async function registerIdentities({ backend, definition, secrets, signal }: Registration): Promise<void> {
  await backend.send(
    registerSystemKeysMutation,
    {
      remoteMcp: { component: 'remote-mcp', key: readSecret(secrets.remoteMcpKey) },
      runtime: { component: 'runtime', key: readSecret(secrets.runtimeKey), runtimeNames: [definition.runtime.name] },
    },
    { signal },
  );
  const { workspaces } = await backend.send(anyWorkspaceQuery, {}, { signal });
  if (workspaces.nodes.length > 0) return;
  const input = { name: firstWorkspace, ownerEmail: definition.owner.email };
  await backend.send(createWorkspaceMutation, { input }, { signal });
}
