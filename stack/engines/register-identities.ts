import { z } from 'zod';
import { type BackendClient, openBackendClient, operatorTokens } from '../client/backend-client.ts';
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
  const { workspaces } = await backend
    .query(
      `mutation ($remoteMcp: SystemKeyInput!, $runtime: SystemKeyInput!) {
      remoteMcp: registerSystemKey(input: $remoteMcp)
      runtime: registerSystemKey(input: $runtime)
    }`,
      {
        remoteMcp: { component: 'remote-mcp', key: readSecret(secrets.remoteMcpKey) },
        runtime: { component: 'runtime', key: readSecret(secrets.runtimeKey), runtimeNames: [definition.runtime.name] },
      },
      () => undefined,
      { signal },
    )
    .then(() => backend.query('{ workspaces(first: 1) { nodes { id } } }', {}, anyWorkspace.parse, { signal }));
  if (workspaces.nodes.length > 0) return;
  await backend.query(
    'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }',
    { input: { name: firstWorkspace, ownerEmail: definition.owner.email } },
    () => undefined,
    { signal },
  );
}

const anyWorkspace = z.object({ workspaces: z.object({ nodes: z.array(z.object({ id: z.string() })) }) });
