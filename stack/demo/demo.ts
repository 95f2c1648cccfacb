import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { apply } from '../apply/apply.ts';
import { readApplyFile } from '../apply/read-file.ts';
import type { BackendClient } from '../client/backend-client.ts';

/** A small MCP server of our own, two skills and a role: enough for an agent to call something. */
const demoFile = join(fileURLToPath(new URL('../../templates/demo', import.meta.url)), 'platform.yaml');
const workspaceName = 'Default';
const keyName = 'demo';

export interface DemoKey {
  readonly key: Secret;
  /** There was one before, which is revoked. */
  readonly isReplaced: boolean;
}

/** Makes the demo what its file says, waits until its tools are there, and gives it a new key in the place of the one before. */
export async function setUpDemo(backend: BackendClient, signal: AbortSignal): Promise<DemoKey> {
  const { problems } = await apply({ backend, files: [readApplyFile(demoFile, {})], signal });
  for (const { message, hint } of problems) throw new SvcError('unavailable', message, { hint });
  const workspace = await readWorkspace(backend, signal);
  return replaceKey(backend, workspace, signal);
}

const named = z.object({ workspace: z.object({ id: z.string() }) });

async function readWorkspace(backend: BackendClient, signal: AbortSignal): Promise<string> {
  const query = 'query ($name: String) { workspace(name: $name) { id } }';
  const { workspace } = await backend.query(query, { name: workspaceName }, named.parse, { signal });
  return workspace.id;
}

async function replaceKey(backend: BackendClient, workspace: string, signal: AbortSignal): Promise<DemoKey> {
  const revoke = 'mutation ($workspace: ID!, $key: String!) { revokeKey(workspace: $workspace, key: $key) { id } }';
  let isReplaced = true;
  try {
    await backend.query(revoke, { workspace, key: keyName }, () => undefined, { signal });
  } catch (error) {
    // The first start finds none.
    if (!(error instanceof SvcError) || error.code !== 'not_found') throw error;
    isReplaced = false;
  }
  const create =
    'mutation ($workspace: ID!, $input: KeyInput!) { createKey(workspace: $workspace, input: $input) { secret } }';
  const { createKey } = await backend.query(create, { workspace, input: { name: keyName } }, created.parse, { signal });
  return { key: createKey.secret, isReplaced };
}

const created = z.object({ createKey: z.object({ secret: z.string().transform((text) => new Secret(text)) }) });
