import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isObjectType,
  isRequiredArgument,
  print,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Places where a request may name something: fields of Query and Mutation, as `Mutation.createRole`, and ids and texts
 * in arguments, as `Mutation.createRole(input.skills)`. Numbers and truth values name nothing.
 */
export function placesOf(schema: GraphQLSchema): readonly string[] {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types
    .filter((type) => !type.name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const name = `${type.name}.${field.name}`;
        const taken = field.args.flatMap((arg) => namingLeaves(arg, [])).map((path) => `${name}(${path})`);
        return ['Query', 'Mutation', 'Subscription'].includes(type.name) ? [name, ...taken] : taken;
      }),
    );
}

function namingLeaves(given: GraphQLArgument | GraphQLInputField, path: readonly string[]): readonly string[] {
  const type = getNamedType(given.type);
  const here = [...path, given.name];
  if (isInputObjectType(type)) return Object.values(type.getFields()).flatMap((field) => namingLeaves(field, here));
  return ['Int', 'Float', 'Boolean'].includes(type.name) ? [] : [here.join('.')];
}

/**
 * Selects each field of a type by name, with all its content, this many objects deep, and a few nodes of each list.
 * Fields that need arguments are left out.
 */
export function selectInFull(schema: GraphQLSchema, type: string, depth: number): Readonly<Record<string, string>> {
  const selections = fieldsOf(schema, type).map((field) => [field.name, writeField(field, depth)] as const);
  return Object.fromEntries(selections.filter(([, selection]) => selection !== ''));
}

function writeField(field: Field, depth: number): string {
  // A look-up needs an id or a name, though neither alone is required.
  if (field.args.some((arg) => isRequiredArgument(arg) || arg.name === 'id')) return '';
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return field.name;
  // The page objects around nodes do not count as a level.
  const isStep = !/(Page|PageInfo)$/.test(type.name);
  if (isStep && depth === 0) return '';
  const inner = Object.values(type.getFields()).map((one) => writeField(one, isStep ? depth - 1 : depth));
  const selection = inner.filter((one) => one !== '').join(' ');
  const first = field.args.some((arg) => arg.name === 'first') ? `(first: ${nodesOfEach})` : '';
  return selection === '' ? '' : `${field.name}${first} { ${selection} }`;
}

const nodesOfEach = 5;

/** A field with these arguments as GraphQL text, with a minimal selection. */
export function writeCall(schema: GraphQLSchema, type: string, name: string, given: Arguments): string {
  const field = fieldsOf(schema, type).find((one) => one.name === name);
  if (field === undefined) throw new Error(`there is no ${type}.${name}`);
  const args = field.args.flatMap((arg) => {
    const value = astFromValue(given[arg.name], arg.type);
    return value ? [`${arg.name}: ${print(value)}`] : [];
  });
  const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
  return `${name}${args.length === 0 ? '' : `(${args.join(', ')})`}${selection}`;
}

function fieldsOf(schema: GraphQLSchema, type: string): readonly Field[] {
  const found = schema.getType(type);
  return isObjectType(found) ? Object.values(found.getFields()) : [];
}
