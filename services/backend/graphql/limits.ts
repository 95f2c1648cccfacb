import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromAST,
} from 'graphql';
import { SvcError } from '../../contracts/errors.ts';

/** What one operation may ask for, known before anything is read. */
export const limits = {
  /** Words and signs of a document; an introspection query has about 350. Validation compares fields in pairs, so this bounds its time. */
  tokens: 2000,
  /** Nesting. The deepest useful question, skills with their tools' MCP servers and runtimes, needs 10. */
  depth: 12,
  /** Fields, fragments counted where they are used: it bounds the work of looking at the rest. */
  fields: 1000,
  /** Fields under another name: each may repeat a costly one. */
  aliases: 50,
  /** Nodes if every page were full: `first` times the `first` around it. One page of skills with all their tools fits. */
  nodes: 120_000,
} as const;

interface Measured {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Throws `invalid_input` where an operation asks for too much. The document is valid and its variables are coerced. */
export function checkLimits({ schema, document, operation, variables }: Measured): void {
  const root = schema.getRootType(operation.operation);
  if (root == null) return;
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const walk = { fragments, variables, used: { fields: 0, aliases: 0, nodes: 0 } };
  measure(walk, operation.selectionSet, root, { depth: 1, nodes: 1 });
}

interface Walk {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly used: Record<'fields' | 'aliases' | 'nodes', number>;
}

/** Where a selection lies: how deep, and in how many nodes at most. */
interface Place {
  readonly depth: number;
  readonly nodes: number;
}

function measure(walk: Walk, selections: SelectionSetNode, type: GraphQLNamedType, place: Place): void {
  for (const selection of selections.selections) {
    switch (selection.kind) {
      case Kind.FIELD:
        measureField(walk, selection, type, place);
        break;
      case Kind.INLINE_FRAGMENT:
        measure(walk, selection.selectionSet, type, place);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = walk.fragments.get(selection.name.value);
        if (fragment !== undefined) measure(walk, fragment.selectionSet, type, place);
        break;
      }
    }
  }
}

function measureField(walk: Walk, node: FieldNode, type: GraphQLNamedType, place: Place): void {
  spend(walk, 'fields', 1);
  if (node.alias !== undefined) spend(walk, 'aliases', 1);
  const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  // What introspects has no field here: its nesting is bounded by a rule of GraphQL itself (lists), and its work by `fields`.
  if (field === undefined) {
    if (node.selectionSet !== undefined) countOnly(walk, node.selectionSet);
    return;
  }
  if (place.depth > limits.depth) throw tooMuch('depth');
  const first = firstOf(walk, node, field);
  const nodes = place.nodes * (first ?? 1);
  if (first !== null) spend(walk, 'nodes', nodes);
  if (node.selectionSet !== undefined) {
    measure(walk, node.selectionSet, getNamedType(field.type), { depth: place.depth + 1, nodes });
  }
}

function countOnly(walk: Walk, selections: SelectionSetNode): void {
  for (const selection of selections.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = walk.fragments.get(selection.name.value);
      if (fragment !== undefined) countOnly(walk, fragment.selectionSet);
      continue;
    }
    if (selection.kind === Kind.FIELD) spend(walk, 'fields', 1);
    if (selection.selectionSet !== undefined) countOnly(walk, selection.selectionSet);
  }
}

/** The page size of a field, or null where it has none. */
function firstOf(walk: Walk, node: FieldNode, field: GraphQLField<unknown, unknown>): number | null {
  const argument = field.args.find(({ name }) => name === 'first');
  if (argument === undefined) return null;
  const given = node.arguments?.find(({ name }) => name.value === 'first');
  const value = given === undefined ? undefined : valueFromAST(given.value, argument.type, walk.variables);
  const size = value ?? argument.defaultValue;
  return typeof size === 'number' && size > 0 ? size : 1;
}

const words = {
  depth: 'levels of nesting',
  fields: 'fields',
  aliases: 'aliases',
  nodes: 'nodes, were every page full',
} as const;

function spend(walk: Walk, what: keyof Walk['used'], amount: number): void {
  walk.used[what] += amount;
  if (walk.used[what] > limits[what]) throw tooMuch(what);
}

function tooMuch(what: keyof typeof words): SvcError {
  return new SvcError('invalid_input', `The operation asks for too much: more than ${limits[what]} ${words[what]}.`, {
    hint:
      what === 'nodes'
        ? 'Ask for smaller pages with "first", or for less inside them.'
        : 'Split it into several operations.',
  });
}
