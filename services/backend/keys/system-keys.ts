import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { keyHint, parseKey } from '../../contracts/keys.ts';
import { parseName } from '../../contracts/names.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Graph, Node, Transaction, WithGraph } from '../graph/graph.ts';
import { requireOperator } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

type SystemKeyNeeds = WithGraph & WithSecrets;

/** A key of one of the platform's components: it is refused for any other component. */
export interface SystemKey {
  readonly component: Component;
  /** Runtime names that it allows; empty for remote-mcp. */
  readonly runtimeNames: readonly string[];
}

const components = ['remote-mcp', 'runtime'] as const;
type Component = (typeof components)[number];

export interface SystemKeyInput {
  readonly component: string;
  readonly key: string;
  readonly runtimeNames?: readonly string[] | null | undefined;
}

export async function findSystemKey({ graph, secrets }: SystemKeyNeeds, key: Secret): Promise<SystemKey | null> {
  const node = await findNode(graph, secrets.digests(key));
  if (node === null) return null;
  const { component, runtimeNames } = node;
  return stored.parse({ component, runtimeNames: JSON.parse(runtimeNames) });
}

const stored = z.object({ component: z.enum(components), runtimeNames: z.array(z.string()) });

/** Registers a system key. Idempotent; other runtime names replace the earlier ones. */
export async function registerSystemKey(
  { graph, secrets }: SystemKeyNeeds,
  principal: TokenPrincipal,
  input: SystemKeyInput,
): Promise<void> {
  requireOperator(principal, 'register a system key');
  const component = parseComponent(input.component);
  const key = parseSystemKey(input.key);
  const runtimeNames = JSON.stringify(parseRuntimeNames(component, input.runtimeNames ?? []));
  await graph.write(async (transaction) => {
    const known = await findNode(transaction, secrets.digests(key));
    if (known === null) {
      const id = newId('systemKey');
      await transaction.create('systemKey', {
        id,
        component,
        runtimeNames,
        digest: secrets.digest(key),
        ciphertext: secrets.encrypt(key, { node: id, field: 'ciphertext' }),
        hint: keyHint(key.reveal()),
        createdAt: Date.now(),
      });
      return;
    }
    if (known.component !== component) {
      throw new SvcError('conflict', `This system key is registered for ${known.component} already.`, {
        hint: 'Each component has its own system key.',
      });
    }
    if (known.runtimeNames === runtimeNames) return;
    await transaction.update('systemKey', known.id, { runtimeNames }, { anchor: null });
  });
}

async function findNode(
  graph: Pick<Graph | Transaction, 'findBy'>,
  digests: readonly string[],
): Promise<Node<'systemKey'> | null> {
  for (const digest of digests) {
    const node = await graph.findBy('systemKey', { digest }, null);
    if (node !== null) return node;
  }
  return null;
}

function parseComponent(text: string): Component {
  const component = components.find((candidate) => candidate === text);
  if (component !== undefined) return component;
  throw new SvcError(
    'invalid_input',
    `"${text.slice(0, 80)}" is not a component with a system key: it must be ${components.join(' or ')}.`,
  );
}

/** The text may be a secret of another kind, so it is not repeated. */
function parseSystemKey(text: string): Secret {
  const parsed = parseKey(text);
  if (parsed.ok && parsed.kind === 'system') return new Secret(text);
  throw new SvcError('invalid_input', 'The text is not a system key: it must start with SYK_ and be complete.');
}

const runtimeNamesMax = 100;

function parseRuntimeNames(component: Component, names: readonly string[]): readonly string[] {
  if (component === 'remote-mcp') {
    if (names.length === 0) return [];
    throw new SvcError('invalid_input', 'A system key of remote-mcp has no runtime names: leave them out.');
  }
  if (names.length < 1 || names.length > runtimeNamesMax) {
    throw new SvcError('invalid_input', `A system key of a runtime needs 1 to ${runtimeNamesMax} runtime names.`);
  }
  return [...new Set(names.map((name) => parseName('runtime', name)))].sort();
}
