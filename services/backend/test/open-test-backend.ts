import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, newProcessId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { readEnv } from '../../kit/env.ts';
import type { Backend } from '../context.ts';
import type { Node } from '../graph/graph.ts';
import { openBackend } from '../open-backend.ts';
import { commandRuntimes } from '../runtimes/command-runtimes.ts';
import { Processes } from '../runtimes/processes.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { createWorkspace } from '../workspaces/create-workspace.ts';

/** A backend with all its dependencies, real and open, and none of its listeners: each test starts those it needs. */
export interface TestBackend extends Backend {
  readonly hub: Hub;
  /** Every line logged, one JSON object each. */
  readonly logged: readonly string[];
  close(): Promise<void>;
}

export const operator: TokenPrincipal = { kind: 'operator', name: 'root' };

export async function openTestBackend(env: Readonly<Record<string, string>> = {}): Promise<TestBackend> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-backend-'));
  const { env: config } = readEnv('backend', {
    ...(await writeSigningKeys(folder)),
    PRIVATE_GRAPHDB_URL: `file:${join(folder, 'graph.sqlite')}`,
    FILES_DIR: join(folder, 'blobs'),
    BUS_SERVERS: 'inproc:',
    ENCRYPTION_KEY: '5e'.repeat(32),
    LOG_LEVEL: 'trace',
    ...env,
  });
  const logged: string[] = [];
  const log = { write: (line: string) => void logged.push(line) };
  const open = new AsyncDisposableStack();
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const hub = open.adopt(await startHub({ file: null, log }), (started) => started.stop());
  const backend = await openBackend(config, { hub, version: '0.0.0', log }, open);
  return { ...backend, hub, logged, close: () => open.disposeAsync() };
}

/** Another backend of the same platform: it shares only the graph and the bus with the first. */
export async function openAnotherBackend(first: TestBackend): Promise<TestBackend> {
  const process = newProcessId();
  const bus = await first.hub.connect({ kind: 'backend' }, process);
  const processes = new Processes();
  return {
    ...{ ...first, process, bus, processes },
    commandRuntimes: (runtimes, command) => commandRuntimes({ bus, processes }, runtimes, command),
    close: () => bus.close(),
  };
}

async function writeSigningKeys(folder: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const paths = { JWT_PRIVATE_KEY_PATH: join(folder, 'private.pem'), JWT_PUBLIC_KEY_PATH: join(folder, 'public.pem') };
  await writeFile(paths.JWT_PRIVATE_KEY_PATH, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(paths.JWT_PUBLIC_KEY_PATH, publicKey.export({ type: 'spki', format: 'pem' }));
  return paths;
}

/** A workspace and its owner. */
export async function addWorkspace(
  backend: Backend,
  name: string,
): Promise<{ readonly id: WorkspaceId; readonly owner: TokenPrincipal & { readonly user: UserId } }> {
  const ownerEmail = `${name}@example.com`;
  const { id } = await createWorkspace(backend, operator, { name, ownerEmail });
  const user = await backend.graph.findBy('user', { email: ownerEmail }, null);
  if (user === null) throw new Error('a workspace was made without its owner');
  return { id, owner: { kind: 'user', user: user.id, session: newId('browserSession') } };
}

/** A member of a workspace, with a member role. */
export async function addMember(backend: Backend, workspace: WorkspaceId, role: string) {
  const user = newId('user');
  await backend.graph.write(async (transaction) => {
    const createdAt = Date.now();
    await transaction.create('user', {
      id: user,
      email: `${user}@example.com`,
      name: role,
      signedInAt: null,
      createdAt,
    });
    const id = newId('member');
    await transaction.create('member', { id, workspace, user, role, suspended: false, createdAt });
    await transaction.link({ from: 'member', edge: 'person' }, id, [user]);
  });
  return { kind: 'user' as const, user, session: newId('browserSession') };
}

export async function getWorkspace(backend: Backend, id: WorkspaceId): Promise<Node<'workspace'>> {
  const workspace = await backend.graph.find('workspace', id, null);
  if (workspace === null) throw new Error(`no workspace ${id}`);
  return workspace;
}
