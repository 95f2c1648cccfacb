import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../services/contracts/errors.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { apply } from '../apply/apply.ts';
import { findProblems } from '../apply/find-problems.ts';
import { readApplyFile } from '../apply/read-file.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { createKeyMutation, revokeKeyMutation, workspaceQuery } from '../client/generated/operations.ts';

/** A small MCP server, two skills and a role: enough for an agent to call something. */
const demoFile = join(fileURLToPath(new URL('../../templates/demo', import.meta.url)), 'platform.yaml');
const workspaceName = 'Default';
const keyName = 'demo';

export interface DemoKey {
  readonly key: Secret;
  /** An earlier key was revoked. */
  readonly isReplaced: boolean;
}

/** Applies the demo's file, waits for its tools, and replaces its key. */
export async function setUpDemo(backend: BackendClient, signal: AbortSignal): Promise<DemoKey> {
  const { plans } = await apply({ backend, files: [readApplyFile(demoFile, {})], signal });
  for (const { message, hint } of await findProblems({ backend, plans, signal }))
    throw new SvcError('unavailable', message, { hint });
  const { workspace } = await backend.send(workspaceQuery, { name: workspaceName }, { signal });
  if (workspace === null) throw new Error(`a platform without the workspace ${workspaceName}`);
  return replaceKey(backend, workspace.id, signal);
}

async function replaceKey(backend: BackendClient, workspace: string, signal: AbortSignal): Promise<DemoKey> {
  let isReplaced = true;
  try {
    await backend.send(revokeKeyMutation, { workspace, key: keyName }, { signal });
  } catch (error) {
    // The first start finds none.
    if (!(error instanceof SvcError) || error.code !== 'not_found') throw error;
    isReplaced = false;
  }
  const { createKey } = await backend.send(createKeyMutation, { workspace, input: { name: keyName } }, { signal });
  return { key: new Secret(createKey.secret), isReplaced };
}
