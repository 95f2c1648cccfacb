/** What of a value does not fit a JSON Schema. */
export interface SchemaProblem {
  /** Names and positions from the value to its part. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A schema of a hostile MCP server costs no more steps than this. */
const stepsMax = 20_000;
const depthMax = 40;
const problemsMax = 20;
const messageMax = 300;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Checks a value by JSON Schema 2020-12, as far as a person is helped: unknown keywords are left to the MCP server.
 * `pattern` is not evaluated, because a regular expression of a hostile MCP server could stop the page.
 */
export function findSchemaProblems(schema: unknown, value: unknown): readonly SchemaProblem[] {
  const check = new Check(schema);
  check.value(schema, value, []);
  return check.problems.slice(0, problemsMax);
}

class Check {
  readonly problems: SchemaProblem[] = [];
  readonly #root: unknown;
  #steps = 0;
  #depth = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  value(given: unknown, value: unknown, path: SchemaProblem['path']): void {
    if (this.#depth >= depthMax || ++this.#steps > stepsMax) return;
    if (given === false) {
      this.#complain(path, 'must be left out');
      return;
    }
    const schema = resolve(given, this.#root);
    if (schema === null) return;
    this.#depth++;
    try {
      this.#kind(schema, value, path);
    } finally {
      this.#depth--;
    }
  }

  #kind(schema: Schema, value: unknown, path: SchemaProblem['path']): void {
    const types = typesOf(schema);
    if (types !== null && !types.some((type) => isOfType(type, value))) {
      this.#complain(path, `must be ${types.map((type) => words[type] ?? type).join(' or ')}`);
      return;
    }
    if (Array.isArray(schema.enum) && !schema.enum.some((one) => isEqual(one, value))) {
      this.#complain(path, `must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`);
    }
    if ('const' in schema && !isEqual(schema.const, value)) {
      this.#complain(path, `must be ${JSON.stringify(schema.const)}`);
    }
    if (typeof value === 'string') this.#text(schema, value, path);
    if (typeof value === 'number') this.#number(schema, value, path);
    if (Array.isArray(value)) this.#list(schema, value, path);
    else if (isSchema(value)) this.#object(schema, value, path);
    for (const one of listOf(schema.allOf)) this.value(one, value, path);
    this.#alternatives(schema, value, path);
  }

  #text({ minLength, maxLength }: Schema, value: string, path: SchemaProblem['path']): void {
    const length = [...value].length;
    if (isNumber(minLength) && length < minLength) this.#complain(path, `must have ${minLength} characters or more`);
    if (isNumber(maxLength) && length > maxLength) this.#complain(path, `must have ${maxLength} characters at most`);
  }

  #number(schema: Schema, value: number, path: SchemaProblem['path']): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (isNumber(minimum) && value < minimum) this.#complain(path, `must be ${minimum} or more`);
    if (isNumber(maximum) && value > maximum) this.#complain(path, `must be ${maximum} at most`);
    if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) {
      this.#complain(path, `must be more than ${exclusiveMinimum}`);
    }
    if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) {
      this.#complain(path, `must be less than ${exclusiveMaximum}`);
    }
    if (isNumber(multipleOf) && multipleOf > 0 && !isMultiple(value, multipleOf)) {
      this.#complain(path, `must be a multiple of ${multipleOf}`);
    }
  }

  #list(schema: Schema, value: readonly unknown[], path: SchemaProblem['path']): void {
    const { minItems, maxItems, items, prefixItems, uniqueItems } = schema;
    if (isNumber(minItems) && value.length < minItems) this.#complain(path, `must have ${minItems} entries or more`);
    if (isNumber(maxItems) && value.length > maxItems) this.#complain(path, `must have ${maxItems} entries at most`);
    if (uniqueItems === true && new Set(value.map((one) => JSON.stringify(one))).size < value.length) {
      this.#complain(path, 'must not have an entry twice');
    }
    const first = listOf(prefixItems);
    for (const [at, one] of value.entries()) this.value(at < first.length ? first[at] : items, one, [...path, at]);
  }

  #object(schema: Schema, value: Schema, path: SchemaProblem['path']): void {
    const { properties, required, additionalProperties } = schema;
    for (const name of listOf(required)) {
      if (typeof name === 'string' && !Object.hasOwn(value, name)) this.#complain([...path, name], 'is required');
    }
    const known = isSchema(properties) ? properties : {};
    const hasPatterns = isSchema(schema.patternProperties);
    for (const [name, one] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) this.value(known[name], one, [...path, name]);
      else if (additionalProperties === false && !hasPatterns)
        this.#complain([...path, name], 'is not known to the tool');
      else if (isSchema(additionalProperties) && !hasPatterns) this.value(additionalProperties, one, [...path, name]);
    }
  }

  /** Of several alternatives that none fits, the person reads about the first that has the right type. */
  #alternatives(schema: Schema, value: unknown, path: SchemaProblem['path']): void {
    for (const alternatives of [listOf(schema.anyOf), listOf(schema.oneOf)]) {
      if (alternatives.length === 0) continue;
      const tried = alternatives.map((one) => this.#problemsOf(one, value, path));
      if (tried.some((problems) => problems.length === 0)) continue;
      const about = tried.find((problems) => problems.every((problem) => problem.path.length > path.length));
      if (about === undefined) this.#complain(path, 'fits none of the forms that the tool takes');
      else this.problems.push(...about);
    }
  }

  #problemsOf(schema: unknown, value: unknown, path: SchemaProblem['path']): readonly SchemaProblem[] {
    const before = this.problems.length;
    this.value(schema, value, path);
    return this.problems.splice(before);
  }

  #complain(path: SchemaProblem['path'], message: string): void {
    this.problems.push({ path, message: message.length > messageMax ? `${message.slice(0, messageMax)}…` : message });
  }
}

const words: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** The schema without its reference. Only references inside of the same schema are followed. Null: nothing to check. */
export function resolve(given: unknown, root: unknown): Schema | null {
  let schema = given;
  for (let hops = 0; hops < depthMax; hops++) {
    if (!isSchema(schema)) return null;
    const { $ref: reference, ...rest } = schema;
    if (typeof reference !== 'string') return schema;
    const target = pointed(root, reference);
    if (!isSchema(target)) return rest;
    schema = { ...target, ...rest };
  }
  return null;
}

/** RFC 6901, as a fragment of the same document. */
function pointed(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

/** Null: any type. */
export function typesOf({ type }: Schema): readonly string[] | null {
  if (typeof type === 'string') return [type];
  const types = listOf(type).filter((one) => typeof one === 'string');
  return types.length === 0 ? null : types;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'object':
      return isSchema(value);
    default:
      return typeof value === type;
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
