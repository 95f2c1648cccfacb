import { findSchemaProblems, isSchema, resolve, type SchemaProblem, typesOf } from './schema-problems.ts';

/** One argument of a tool as a field of a form. */
export interface InputField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  readonly kind: FieldKind;
  /** As JSON; empty without one. */
  readonly defaultText: string;
}

export type FieldKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'number' }
  | { readonly kind: 'choice'; readonly values: readonly unknown[] }
  /** Lists, objects, and whatever has no control of its own. */
  | { readonly kind: 'json' };

/** More would be a form that nobody fills in: the person then writes JSON. */
const fieldsMax = 60;
const choicesMax = 200;

/** What is typed, by the name of the argument. A choice is the position of its value. */
export type Typed = ReadonlyMap<string, string>;

/** The input schema in the definition of a tool. Null: the definition cannot be read. */
export function inputSchemaOf(definition: string): unknown {
  try {
    const tool: unknown = JSON.parse(definition);
    return isSchema(tool) ? (tool.inputSchema ?? null) : null;
  } catch {
    return null;
  }
}

/** The fields of a form, required ones first. Null: no form shows this schema. */
export function fieldsOf(schema: unknown): readonly InputField[] | null {
  const root = resolve(schema, schema);
  if (root === null || 'anyOf' in root || 'oneOf' in root || 'allOf' in root) return null;
  const properties = isSchema(root.properties) ? Object.entries(root.properties) : [];
  const required = Array.isArray(root.required) ? root.required : [];
  if (properties.length > fieldsMax || required.some((name) => !properties.some(([known]) => known === name))) {
    return null;
  }
  const fields = properties.map(([name, given]) =>
    fieldOf(name, { given, root: schema, isRequired: required.includes(name) }),
  );
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

interface Property {
  readonly given: unknown;
  readonly root: unknown;
  readonly isRequired: boolean;
}

function fieldOf(name: string, { given, root, isRequired }: Property): InputField {
  const schema = resolve(given, root) ?? {};
  const { title, description } = schema;
  return {
    name,
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    required: isRequired,
    kind: kindOf(schema, root),
    defaultText: 'default' in schema ? JSON.stringify(schema.default) : '',
  };
}

function kindOf(schema: Readonly<Record<string, unknown>>, root: unknown): FieldKind {
  if (Array.isArray(schema.enum) && schema.enum.length <= choicesMax) return { kind: 'choice', values: schema.enum };
  const [one, ...others] = alternativesOf(schema, root);
  if (one !== undefined) return others.length === 0 ? kindOf(one, root) : { kind: 'json' };
  const types = (typesOf(schema) ?? []).filter((type) => type !== 'null');
  if (types.length !== 1) return { kind: 'json' };
  switch (types[0]) {
    case 'string':
      return { kind: 'text' };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    case 'boolean':
      return { kind: 'choice', values: [true, false] };
    default:
      return { kind: 'json' };
  }
}

/** Without null, which means that the argument may be left out. */
function alternativesOf(schema: Readonly<Record<string, unknown>>, root: unknown) {
  const given = [schema.anyOf, schema.oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return given.flatMap((one) => {
    const resolved = resolve(one, root);
    return resolved === null || resolved.type === 'null' ? [] : [resolved];
  });
}

export type ReadInput =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: ReadonlyMap<string, string> };

/** The arguments of a filled form, or what is wrong by the name of the argument. An empty field is left out. */
export function readForm(schema: unknown, fields: readonly InputField[], typed: Typed): ReadInput {
  const problems = new Map<string, string>();
  const input: Record<string, unknown> = Object.create(null);
  for (const { name, kind } of fields) {
    const text = typed.get(name) ?? '';
    if (text === '' || (kind.kind !== 'text' && text.trim() === '')) continue;
    const value = valueOfText(kind, text);
    if (value === undefined) problems.set(name, kind.kind === 'number' ? 'It must be a number.' : 'It is not JSON.');
    else input[name] = value;
  }
  for (const problem of findSchemaProblems(schema, input)) {
    const name = String(problem.path[0] ?? '');
    if (!problems.has(name)) problems.set(name, sentence(problem, 1));
  }
  return problems.size === 0 ? { ok: true, input: { ...input } } : { ok: false, problems };
}

function valueOfText(kind: FieldKind, text: string): unknown {
  switch (kind.kind) {
    case 'text':
      return text;
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'choice':
      return kind.values[Number(text)];
    case 'json':
      return parse(text);
  }
}

/** The arguments as JSON text. The problems of the whole are under the empty name. */
export function readJsonInput(schema: unknown, text: string): ReadInput {
  const value = text.trim() === '' ? {} : parse(text);
  const wrong = (message: string): ReadInput => ({ ok: false, problems: new Map([['', message]]) });
  if (value === undefined) return wrong('It is not JSON.');
  if (!isSchema(value)) return wrong('It must be an object, such as {"path": "."}.');
  const problems = findSchemaProblems(schema, value);
  if (problems.length > 0) return wrong(problems.map((problem) => sentence(problem, 0)).join(' '));
  return { ok: true, input: value };
}

/** With the part of the value that is wrong, from this level on. */
function sentence({ path, message }: SchemaProblem, from: number): string {
  const part = path.slice(from).map((one) => (typeof one === 'number' ? `[${one}]` : `.${one}`));
  const place = part.join('').replace(/^\./, '').slice(0, 120);
  return `${place === '' ? 'It' : `"${place}"`} ${message}.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
