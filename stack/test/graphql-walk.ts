import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/**
 * Every place of a schema where a request may name something: each field of Query and Mutation as `Mutation.createRole`, and each id or
 * text that any field takes as `Mutation.createRole(input.skills)`. Numbers and truth values name nothing.
 */
export function placesOf(schema: GraphQLSchema): readonly string[] {
  const roots = new Set([
    schema.getQueryType()?.name,
    schema.getMutationType()?.name,
    schema.getSubscriptionType()?.name,
  ]);
  return objectTypesOf(schema).flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) => {
      const name = `${type.name}.${field.name}`;
      const taken = field.args.flatMap((arg) => namingLeaves(arg, [])).map((path) => `${name}(${path})`);
      return roots.has(type.name) ? [name, ...taken] : taken;
    }),
  );
}

/** Fields that give pages, and can be asked where to go on: `Workspace.roles`. */
export function pagedFieldsOf(schema: GraphQLSchema, type: string): readonly string[] {
  const found = schema.getType(type);
  if (!isObjectType(found)) return [];
  const isPaged = (field: GraphQLField<unknown, unknown>) => field.args.some(({ name }) => name === 'after');
  return Object.values(found.getFields())
    .filter(isPaged)
    .map(({ name }) => name);
}

/** Names of the fields of a type. */
export function fieldsOf(schema: GraphQLSchema, type: string): readonly string[] {
  const found = schema.getType(type);
  return isObjectType(found) ? Object.keys(found.getFields()) : [];
}

/**
 * Selects a field and everything that it gives, this many objects deep, a few nodes of each list; what needs arguments is left out. Empty
 * where nothing is left.
 */
export function selectInFull(schema: GraphQLSchema, type: string, name: string, depth: number): string {
  return writeField(fieldOf(schema, type, name), depth);
}

function writeField(field: GraphQLField<unknown, unknown>, depth: number): string {
  // A look-up needs an id or a name, though neither alone is required.
  if (field.args.some((arg) => isRequiredArgument(arg) || arg.name === 'id')) return '';
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return field.name;
  // The objects around the nodes of a page are no step of their own.
  const isStep = !/(Page|PageInfo)$/.test(type.name);
  if (isStep && depth === 0) return '';
  const inner = Object.values(type.getFields()).map((one) => writeField(one, isStep ? depth - 1 : depth));
  const selection = inner.filter((one) => one !== '').join(' ');
  const first = field.args.some((arg) => arg.name === 'first') ? `(first: ${nodesOfEach})` : '';
  return selection === '' ? '' : `${field.name}${first} { ${selection} }`;
}

const nodesOfEach = 5;

/** A field with these arguments as GraphQL text, selecting next to nothing. */
export function writeCall(schema: GraphQLSchema, type: string, name: string, args: Arguments): string {
  const written = Object.entries(args).map(([arg, value]) => `${arg}: ${writeValue(value)}`);
  const selection = isCompositeType(getNamedType(fieldOf(schema, type, name).type)) ? ' { __typename }' : '';
  return `${name}${written.length === 0 ? '' : `(${written.join(', ')})`}${selection}`;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** GraphQL's values are JSON's, but for the names of fields. */
function writeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${name}: ${writeValue(inner)}`)
    .join(', ')} }`;
}

function fieldOf(schema: GraphQLSchema, type: string, name: string): GraphQLField<unknown, unknown> {
  const found = schema.getType(type);
  const field = isObjectType(found) ? found.getFields()[name] : undefined;
  if (field === undefined) throw new Error(`there is no ${type}.${name}`);
  return field;
}

function objectTypesOf(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'));
}

function namingLeaves(given: GraphQLArgument | GraphQLInputField, path: readonly string[]): readonly string[] {
  const type = getNamedType(given.type);
  const here = [...path, given.name];
  // An input that holds itself would have no end; none does, and a bound says so.
  if (here.length > inputDepthMax) throw new Error(`${here.join('.')} is nested too deep to list`);
  if (isInputObjectType(type)) return Object.values(type.getFields()).flatMap((field) => namingLeaves(field, here));
  return ['Int', 'Float', 'Boolean'].includes(type.name) ? [] : [here.join('.')];
}

const inputDepthMax = 6;
