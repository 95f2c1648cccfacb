import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, newId, type ProcessId } from '../../contracts/ids.ts';
import { type KeyKind, parseKey } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { Authorizer, Credentials } from '../../kit/bus/bus.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { isPast } from '../keys/key-state.ts';
import { findSystemKey } from '../keys/system-keys.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { runtimeRevoked } from './assigned.ts';

type AuthorizerNeeds = WithGraph & WithSecrets;

/** Decides which clients connect to the bus (specification part 5, "Component identities"). */
export function createAuthorizer(backend: AuthorizerNeeds): Authorizer {
  return async (credentials, process) => {
    switch (credentials.kind) {
      case 'backend':
        throw new SvcError('forbidden', 'A backend connects with the credential of the bus itself.');
      case 'system':
        return credentials.component === 'remote-mcp'
          ? await remoteMcp(backend, credentials.key, process)
          : await platformRuntime(backend, credentials, process);
      case 'runtime':
        return await customerRuntime(backend, credentials.key, process);
    }
  };
}

async function remoteMcp(backend: AuthorizerNeeds, key: Secret, process: ProcessId): Promise<Identity> {
  await getSystemKey(backend, key, 'remote-mcp');
  return { kind: 'remote-mcp', process };
}

async function platformRuntime(
  backend: AuthorizerNeeds,
  { key, runtimeName }: Extract<Credentials, { component: 'runtime' }>,
  process: ProcessId,
): Promise<Identity> {
  const systemKey = await getSystemKey(backend, key, 'runtime');
  if (!systemKey.runtimeNames.includes(runtimeName)) {
    throw new SvcError(
      'forbidden',
      `RUNTIME_NAME is "${runtimeName.slice(0, 80)}": this SYSTEM_KEY is for ${quoted(systemKey.runtimeNames)}.`,
      { hint: 'Set RUNTIME_NAME to a name the key is for, or register the key for this name too.' },
    );
  }
  const runtime = await ensurePlatformRuntime(backend, runtimeName);
  return identityOf(runtime, process);
}

async function customerRuntime(
  { graph, secrets }: AuthorizerNeeds,
  key: Secret,
  process: ProcessId,
): Promise<Identity> {
  requireKind(key, 'runtime', 'RUNTIME_KEY');
  for (const digest of secrets.digests(key)) {
    const runtimeKey = await graph.findBy('runtimeKey', { digest }, null);
    if (runtimeKey === null) continue;
    const id = findId('runtime', runtimeKey.runtime);
    const runtime = id === null ? null : await graph.find('runtime', id, null);
    if (runtime === null) continue;
    // A revocation lets the keys expire too, and is the reason.
    const identity = identityOf(runtime, process);
    if (isPast(runtimeKey.expiresAt, Date.now())) {
      throw new SvcError('unauthenticated', 'This RUNTIME_KEY has expired: a newer one was issued.', {
        hint: 'Set RUNTIME_KEY to the key that the last svc runtime register printed.',
      });
    }
    return { ...identity, key: runtimeKey.id };
  }
  throw new SvcError('unauthenticated', 'This RUNTIME_KEY is not known to the platform.', {
    hint: 'It belongs to another platform, or was replaced. Ask the operator of this platform for a new one: svc runtime register NAME.',
  });
}

/** A platform runtime needs no registration: the operator named it when the system key was registered. */
async function ensurePlatformRuntime({ graph }: AuthorizerNeeds, name: string): Promise<Node<'runtime'>> {
  const values = { home: platformHome, name };
  const known = await graph.findBy('runtime', values, null);
  if (known !== null) return known;
  return await graph.write(
    async (transaction) =>
      (await transaction.findBy('runtime', values, null)) ??
      (await transaction.create('runtime', {
        ...values,
        id: newId('runtime'),
        lastHeartbeatAt: null,
        revokedAt: null,
        createdAt: Date.now(),
      })),
  );
}

function identityOf(runtime: Node<'runtime'>, process: ProcessId): Extract<Identity, { kind: 'runtime' }> {
  if (runtime.revokedAt !== null) throw runtimeRevoked(runtime);
  const workspace = runtime.home === platformHome ? null : findId('workspace', runtime.home);
  return { kind: 'runtime', process, runtime: runtime.id, name: runtime.name, workspace };
}

async function getSystemKey(backend: AuthorizerNeeds, key: Secret, component: 'remote-mcp' | 'runtime') {
  requireKind(key, 'system', 'SYSTEM_KEY');
  const systemKey = await findSystemKey(backend, key);
  if (systemKey === null) {
    throw new SvcError('unauthenticated', 'This SYSTEM_KEY is not known to the platform.', {
      hint: 'Start the platform with `svc up`, which registers its system keys.',
    });
  }
  if (systemKey.component !== component) {
    throw new SvcError('forbidden', `This SYSTEM_KEY is for ${systemKey.component}, not for ${component}.`, {
      hint: 'Each component has its own system key.',
    });
  }
  return systemKey;
}

function requireKind(key: Secret, kind: KeyKind, variable: string): void {
  const parsed = parseKey(key.reveal());
  if (parsed.ok && parsed.kind === kind) return;
  const why = parsed.ok ? `it is a ${parsed.kind} key` : `it is refused as "${parsed.refusal}"`;
  throw new SvcError('unauthenticated', `${variable} does not hold a ${kind} key: ${why}.`);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
