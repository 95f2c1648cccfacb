import { SvcError } from '../../contracts/errors.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { keyHint, newKey } from '../../contracts/keys.ts';
import { parseName } from '../../contracts/names.ts';
import type { Secret } from '../../contracts/secret.ts';
import { type ChangeContext, change } from '../change.ts';
import type { Backend } from '../context.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { isPast } from '../keys/key-state.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { platformHome } from './authorize.ts';

type Context = ChangeContext & Pick<Backend, 'secrets' | 'config'>;

export interface RegisteredRuntime {
  readonly runtime: Node<'runtime'>;
  readonly secret: Secret;
  /** Where the runtime finds the bus; empty where this platform advertises none. */
  readonly busServers: readonly string[];
}

/** The key before stays good for so long, in which whoever runs the runtime sets the new one. */
const overlapMs = 24 * 60 * 60 * 1000;
/** Keys of one runtime: a script that registers on every start must not pile them up. */
const keysMax = 10;

/** Issues a key for a runtime of a workspace, or of the platform where there is none, making the runtime where its name is new. */
export async function registerRuntime(
  backend: Context,
  principal: TokenPrincipal,
  request: { readonly workspace: WorkspaceId | null; readonly name: string },
): Promise<RegisteredRuntime> {
  const name = parseName('runtime', request.name);
  const secret = newKey('runtime');
  const { workspace } = request;
  const runtime =
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
            subject: issued.id,
            subjectKind: 'runtime',
            subjectName: name,
            changes: { key: 'changed' },
          });
          return issued;
        });
  return { runtime, secret, busServers: backend.config.PUBLIC_BUS_SERVERS ?? [] };
}

async function registerForPlatform(
  { graph }: Context,
  principal: TokenPrincipal,
  work: (transaction: Transaction) => Promise<Node<'runtime'>>,
): Promise<Node<'runtime'>> {
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

async function issueKey(
  transaction: Transaction,
  secrets: Secrets,
  { home, name, secret }: NewKey,
): Promise<Node<'runtime'>> {
  const now = Date.now();
  const runtime = await ensureRuntime(transaction, home, name);
  await retireKeys(transaction, runtime, now);
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
  return runtime;
}

/** A name that was revoked may be registered again: whoever may do that may also let it in. */
async function ensureRuntime(transaction: Transaction, home: string, name: string): Promise<Node<'runtime'>> {
  const known = await transaction.findBy('runtime', { home, name }, null);
  if (known === null) {
    const fields = { home, name, lastHeartbeatAt: null, revokedAt: null, createdAt: Date.now() };
    return await transaction.create('runtime', { id: newId('runtime'), ...fields });
  }
  if (known.revokedAt === null) return known;
  return await transaction.update('runtime', known.id, { revokedAt: null }, { anchor: null });
}

async function retireKeys(transaction: Transaction, runtime: Node<'runtime'>, now: number): Promise<void> {
  const where = [{ field: 'runtime' as const, equals: runtime.id }];
  const { nodes } = await transaction.select({ type: 'runtimeKey', anchor: null, where, limit: keysMax });
  for (const [i, key] of nodes.entries()) {
    // Ordered by age: of too many, the oldest go.
    if (isPast(key.expiresAt, now) || i < nodes.length - keysMax + 1) {
      await transaction.remove('runtimeKey', key.id, null);
    } else if (key.expiresAt === null) {
      await transaction.update('runtimeKey', key.id, { expiresAt: now + overlapMs }, { anchor: null });
    }
  }
}
