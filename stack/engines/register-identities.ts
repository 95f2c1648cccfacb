import { openBackendClient } from '../client/backend-client.ts';
import {
  anyWorkspaceQuery,
  createWorkspaceMutation,
  registerSystemKeysMutation,
} from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { firstOf } from '../parts/parts.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret } from '../secrets/secrets.ts';
import { firstWorkspace } from '../state/workspace-in-use.ts';

/** Registers the system keys of a plan. An empty platform also gets its first workspace. Idempotent. */
export async function registerIdentities(url: string, plan: Plan, signal: AbortSignal): Promise<void> {
  const { definition, installation, parts, secrets } = plan;
  const tokens = operatorTokens(installation, firstOf('backend', parts).variables.JWT_ISSUER);
  const backend = openBackendClient([url], tokens);
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
