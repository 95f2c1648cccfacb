import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { apply } from '../apply/apply.ts';
import type { BackendClient } from '../backend-client.ts';

/** A small MCP server of our own, two skills and a role: enough for an agent to call something. */
const demoFile = join(fileURLToPath(new URL('../../templates/demo', import.meta.url)), 'platform.yaml');
const workspaceName = 'Default';
const keyName = 'demo';

/** Its process starts in a fraction of a second; a machine under load gets many times that. */
const connectTimeoutMs = 20_000;
const lookIntervalMs = 20;

/** Makes the demo what its file says, waits until its tools are there, and gives it a new key in the place of the one before. */
export async function setUpDemo(backend: BackendClient, signal: AbortSignal): Promise<Secret> {
  const changes = await apply({ backend, files: [demoFile], env: {}, signal });
  const workspace = await readWorkspace(backend, signal);
  const names = changes.flatMap(({ kind, name }) => (kind === 'mcpServer' ? [name] : []));
  await waitUntilConnected({ backend, workspace, names, signal });
  return replaceKey(backend, workspace, signal);
}

const named = z.object({ workspace: z.object({ id: z.string() }) });

async function readWorkspace(backend: BackendClient, signal: AbortSignal): Promise<string> {
  const query = 'query ($name: String) { workspace(name: $name) { id } }';
  const { workspace } = await backend.query(query, { name: workspaceName }, named.parse, { signal });
  return workspace.id;
}

const servers = z.object({
  workspace: z.object({
    mcpServers: z.object({
      nodes: z.array(
        z.object({
          name: z.string(),
          status: z.string(),
          reason: z.object({ message: z.string(), repair: z.string() }).nullable(),
        }),
      ),
    }),
  }),
});

interface Waiting {
  readonly backend: BackendClient;
  readonly workspace: string;
  /** Of the MCP servers that the demo needs. */
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

async function waitUntilConnected({ backend, workspace, names, signal }: Waiting): Promise<void> {
  const query =
    'query ($id: ID) { workspace(id: $id) { mcpServers { nodes { name status reason { message repair } } } } }';
  const deadline = performance.now() + connectTimeoutMs;
  for (;;) {
    const found = await backend.query(query, { id: workspace }, servers.parse, { signal });
    const late = found.workspace.mcpServers.nodes.find(
      ({ name, status }) => names.includes(name) && status !== 'Connected',
    );
    if (late === undefined) return;
    if (late.status === 'Error' || performance.now() >= deadline) {
      const why = late.reason ?? { message: 'it did not connect in time.', repair: 'svc logs runtime' };
      throw new SvcError('unavailable', `The demo's MCP server "${late.name}" is not connected: ${why.message}`, {
        hint: why.repair,
      });
    }
    await pause(lookIntervalMs, undefined, { signal });
  }
}

async function replaceKey(backend: BackendClient, workspace: string, signal: AbortSignal): Promise<Secret> {
  const revoke = 'mutation ($workspace: ID!, $key: String!) { revokeKey(workspace: $workspace, key: $key) { id } }';
  try {
    await backend.query(revoke, { workspace, key: keyName }, () => undefined, { signal });
  } catch (error) {
    // The first start finds none.
    if (!(error instanceof SvcError) || error.code !== 'not_found') throw error;
  }
  const create =
    'mutation ($workspace: ID!, $input: KeyInput!) { createKey(workspace: $workspace, input: $input) { secret } }';
  const { createKey } = await backend.query(create, { workspace, input: { name: keyName } }, created.parse, { signal });
  return createKey.secret;
}

const created = z.object({ createKey: z.object({ secret: z.string().transform((text) => new Secret(text)) }) });
