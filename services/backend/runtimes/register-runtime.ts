import { readFile } from 'node:fs/promises';
import { SvcError } from '../../contracts/errors.ts';
import { type KeyId, newId, type WorkspaceId } from '../../contracts/ids.ts';
import { keyHint, newKey } from '../../contracts/keys.ts';
import { parseName } from '../../contracts/names.ts';
import type { Secret } from '../../contracts/secret.ts';
import { runtimesMax } from '../../contracts/workspace-limits.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import { tooMany } from '../graph/get-node.ts';
import { type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { isPast } from '../keys/key-state.ts';
import type { Secrets, WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

type RegistrationNeeds = ChangeNeeds & WithSecrets & WithConfig & WithLog;

export interface RegisteredRuntime {
  readonly runtime: Node<'runtime'>;
  readonly secret: Secret;
  /** Addresses of the bus for the runtime; empty when no outside client can reach it. */
  readonly busServers: readonly string[];
  /** PEM text of the authority that signs the certificate of the bus; null without TLS and for a public authority. */
  readonly authority: string | null;
  /** When earlier keys expire; null without earlier keys. */
  readonly overlapEndsAt: number | null;
}

/** How long an earlier key stays valid, so that the operator of the runtime can set the new one. */
const overlapMs = 24 * 60 * 60 * 1000;
/** Keys of one runtime: a script that registers on every start must not accumulate them. */
const keysMax = 10;

/** Issues a key for a runtime of a workspace, or of the platform when there is none. A new name creates the runtime. */
export async function registerRuntime(
  backend: RegistrationNeeds,
  principal: TokenPrincipal,
  request: { readonly workspace: WorkspaceId | null; readonly name: string },
): Promise<RegisteredRuntime> {
  const name = parseName('runtime', request.name);
  const secret = newKey('runtime');
  const authority = await readAuthority(backend);
  const { workspace } = request;
  const { runtime, removed, overlapEndsAt } =
    workspace === null
      ? await registerForPlatform(backend, principal, (transaction) =>
          issueKey(transaction, backend.secrets, { home: platformHome, name, secret }),
        )
      : await change(backend, { principal, workspace, right: 'administer' }, async (change) => {
          const { transaction } = change;
          const before = await transaction.findBy('runtime', { home: workspace, name }, null);
          const issued = await issueKey(transaction, backend.secrets, { home: workspace, name, secret });
          change.record({
            action: before === null ? 'create' : 'update',
            subject: issued.runtime.id,
            subjectKind: 'runtime',
            subjectName: name,
            changes: { key: 'changed' },
          });
          return issued;
        });
  for (const key of removed) await endConnections(backend, runtime, key);
  return { runtime, secret, busServers: busServersOf(backend), authority, overlapEndsAt };
}

/**
 * The new key exists by now and must be shown, even when the bus does not answer: it keeps trying to end these
 * connections.
 */
async function endConnections(backend: RegistrationNeeds, runtime: Node<'runtime'>, key: KeyId): Promise<void> {
  try {
    await backend.bus.disconnect(runtime.id, { key });
  } catch (thrown) {
    backend
      .log('runtimes')
      .warn({ err: thrown, runtime: runtime.id, key }, 'failed to end the connections of a removed key');
  }
}

/** Addresses of the bus for runtimes on other machines. An embedded bus has none. */
export function busServersOf({
  config: { PUBLIC_BUS_SERVERS, BUS_SERVERS },
}: WithConfig<'PUBLIC_BUS_SERVERS' | 'BUS_SERVERS'>): readonly string[] {
  return (PUBLIC_BUS_SERVERS ?? BUS_SERVERS).filter((server) => server !== 'inproc:');
}

/** Read before a key is made, which nobody could use without it. */
async function readAuthority({ config: { BUS_CA_PATH: path } }: WithConfig<'BUS_CA_PATH'>): Promise<string | null> {
  if (path === undefined) return null;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new SvcError('unavailable', 'The certificate authority of the bus cannot be read. Nothing was registered.', {
      hint: 'An operator of the platform finds the file: svc config check',
      cause,
    });
  }
}

async function registerForPlatform(
  { graph }: RegistrationNeeds,
  principal: TokenPrincipal,
  work: (transaction: Transaction) => Promise<Issued>,
): Promise<Issued> {
  if (principal.kind !== 'operator') {
    throw new SvcError('forbidden', "Only an operator may register one of the platform's own runtimes.", {
      hint: 'Name a workspace to register a runtime of it.',
    });
  }
  return await graph.write(work);
}

interface NewKey {
  readonly home: string;
  readonly name: string;
  readonly secret: Secret;
}

interface Issued extends Retired {
  readonly runtime: Node<'runtime'>;
}

async function issueKey(transaction: Transaction, secrets: Secrets, { home, name, secret }: NewKey): Promise<Issued> {
  const now = Date.now();
  const runtime = await ensureRuntime(transaction, home, name);
  const retired = await retireKeys(transaction, runtime, now);
  const id = newId('key');
  await transaction.create('runtimeKey', {
    id,
    runtime: runtime.id,
    digest: secrets.digest(secret),
    ciphertext: secrets.encrypt(secret, { node: id, field: 'ciphertext' }),
    hint: keyHint(secret.reveal()),
    expiresAt: null,
    createdAt: now,
  });
  await transaction.link({ from: 'runtimeKey', edge: 'of' }, id, [runtime.id]);
  return { runtime, ...retired };
}

/** A revoked name may be registered again, by anyone with the right to register. */
async function ensureRuntime(transaction: Transaction, home: string, name: string): Promise<Node<'runtime'>> {
  const known = await transaction.findBy('runtime', { home, name }, null);
  if (known !== null && known.revokedAt === null) return known;
  if (home !== platformHome) await requireRoom(transaction, home);
  if (known === null) {
    const fields = { home, name, lastHeartbeatAt: null, revokedAt: null, createdAt: Date.now() };
    return await transaction.create('runtime', { id: newId('runtime'), ...fields });
  }
  return await transaction.update('runtime', known.id, { revokedAt: null }, { anchor: null });
}

async function requireRoom(transaction: Transaction, home: string): Promise<void> {
  const where = [{ field: 'home' as const, equals: home }];
  let count = 0;
  for await (const page of everyPage(transaction, { type: 'runtime', anchor: null, where, limit: pageMax })) {
    count += page.filter(({ revokedAt }) => revokedAt === null).length;
  }
  if (count < runtimesMax) return;
  throw tooMany('runtimes in a workspace', runtimesMax, { hint: 'Revoke one of them first: svc runtime revoke NAME' });
}

interface Retired {
  readonly removed: readonly KeyId[];
  readonly overlapEndsAt: number | null;
}

async function retireKeys(transaction: Transaction, runtime: Node<'runtime'>, now: number): Promise<Retired> {
  const where = [{ field: 'runtime' as const, equals: runtime.id }];
  const { nodes } = await transaction.select({ type: 'runtimeKey', anchor: null, where, limit: keysMax });
  const removed: KeyId[] = [];
  let overlapEndsAt: number | null = null;
  for (const [i, key] of nodes.entries()) {
    // Ordered by age: beyond the limit, the oldest are removed.
    if (isPast(key.expiresAt, now) || i < nodes.length - keysMax + 1) {
      await transaction.remove('runtimeKey', key.id, null);
      removed.push(key.id);
      continue;
    }
    const expiresAt = key.expiresAt ?? now + overlapMs;
    if (key.expiresAt === null) await transaction.update('runtimeKey', key.id, { expiresAt }, { anchor: null });
    overlapEndsAt = Math.max(overlapEndsAt ?? 0, expiresAt);
  }
  return { removed, overlapEndsAt };
}
