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

/** Limits of one operation, checked before anything is read. */
export const limits = {
  /**
   * Words and signs of a document; an introspection query has about 350. Validation compares fields in pairs, so this
   * bounds its time.
   */
  tokens: 2000,
  /** Nesting. The deepest useful query, skills with their tools' MCP servers and runtimes, needs 10. */
  depth: 12,
  /** Fields, with fragments counted at each use: bounds the work of the other checks. */
  fields: 1000,
  /** Aliased fields: each may repeat a costly one. */
  aliases: 50,
  /** Nodes if every page were full: `first` times the `first` around it. One page of skills with all their tools fits. */
  nodes: 120_000,
  /** Characters of an alias, which an answer repeats for each node. */
  aliasLength: 100,
} as const;

/** The assumed number of entries in each list of an introspection. The whole schema uses a tenth of `nodes`. */
const introspectedLists: Readonly<Record<string, number>> = {
  ...{ types: 100, fields: 20, inputFields: 20, enumValues: 20, args: 5, directives: 10 },
};

interface Measured {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Throws `invalid_input` when an operation exceeds a limit. The document is valid and its variables are coerced. */
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

/** A selection's depth, and its largest number of nodes. */
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
  countField(walk, node);
  const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  // Introspection fields have no definition here, and their answers are not counted as they are made.
  if (field === undefined) {
    measureIntrospection(walk, node, place.nodes);
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

function measureIntrospection(walk: Walk, node: FieldNode, nodesAround: number): void {
  const nodes = nodesAround * (introspectedLists[node.name.value] ?? 1);
  if (nodes > nodesAround || node.alias !== undefined) spend(walk, 'nodes', nodes);
  if (node.selectionSet !== undefined) measureIntrospected(walk, node.selectionSet, nodes);
}

function measureIntrospected(walk: Walk, selections: SelectionSetNode, nodes: number): void {
  for (const selection of selections.selections) {
    switch (selection.kind) {
      case Kind.FIELD:
        countField(walk, selection);
        measureIntrospection(walk, selection, nodes);
        break;
      case Kind.INLINE_FRAGMENT:
        measureIntrospected(walk, selection.selectionSet, nodes);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = walk.fragments.get(selection.name.value);
        if (fragment !== undefined) measureIntrospected(walk, fragment.selectionSet, nodes);
        break;
      }
    }
  }
}

function countField(walk: Walk, { alias }: FieldNode): void {
  spend(walk, 'fields', 1);
  if (alias === undefined) return;
  spend(walk, 'aliases', 1);
  if (alias.value.length <= limits.aliasLength) return;
  throw new SvcError('invalid_input', `An alias has more than ${limits.aliasLength} characters.`, {
    hint: 'Choose a shorter one.',
  });
}

/** The page size of a field; null when it has none. */
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
