import { getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { workedMs } from '../../kit/test/worked-ms.ts';
import { checkLimits, limits } from './limits.ts';
import { createSchema } from './schema.ts';

const schema = createSchema();

function check(query: string, variables: Readonly<Record<string, unknown>> = {}): void {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('the test has no operation');
  checkLimits({ schema, document, operation, variables });
}

const inWorkspace = (fields: string) => `query ($n: Int) { workspace(name: "W") { ${fields} } }`;

describe('nodes', () => {
  test('page sizes multiply with the pages around them, defaults included', () => {
    const skills = (inside: string) => inWorkspace(`skills { nodes { ${inside} } }`);
    expect(() => check(skills('tools { id }'))).not.toThrow();
    expect(() => check(skills('tools { id } mcpServers { id }'))).not.toThrow();
    expect(() => check(skills('tools { id } mcpServers { runtimes { id } }'))).toThrow(/more than 120000 nodes/);
    expect(() => check(skills('tools { mcpServer { tools { nodes { id } } } }'))).toThrow(/more than 120000 nodes/);
  });

  test('a given size counts, as a value or as a variable', () => {
    const nested = (first: string) =>
      inWorkspace(`roles(first: ${first}) { nodes { skills(first: 1000) { tools(first: 10) { id } } } }`);
    expect(() => check(nested('5'))).not.toThrow();
    expect(() => check(nested('50'))).toThrow(/nodes/);
    expect(() => check(nested('$n'), { n: 5 })).not.toThrow();
    expect(() => check(nested('$n'), { n: 50 })).toThrow(/nodes/);
    expect(() => check(nested('$n'))).toThrow(/nodes/);
  });

  test('repeated fields count each time', () => {
    const tools = 'workspace(name: "W") { skills(first: 100) { nodes { tools(first: 700) { id } } } }';
    expect(() => check(`{ a: ${tools} }`)).not.toThrow();
    expect(() => check(`{ a: ${tools} b: ${tools} }`)).toThrow(/nodes/);
    const fragments = `fragment T on Skill { tools(first: 700) { id } }`;
    const twice = '{ workspace(name: "W") { skills { nodes { ...T ... on Skill { ...T } } } } }';
    expect(() => check(`${fragments} ${twice}`)).toThrow(/nodes/);
  });
});

describe('depth', () => {
  const nested = (depth: number) => {
    const inner =
      'roles(first: 1) { nodes { skills(first: 1) { mcpServers(first: 1) { tools(first: 1) { nodes { mcpServer { tools(first: 1) { nodes { mcpServer { id } } } } } } } } } }';
    const [open] = [inner];
    if (depth === 12) return inWorkspace(open);
    return inWorkspace(open.replace('mcpServer { id }', 'mcpServer { runtimes(first: 1) { id } }'));
  };

  test('twelve levels are accepted, thirteen are too many', () => {
    expect(() => check(nested(12))).not.toThrow();
    expect(() => check(nested(13))).toThrow(/more than 12 levels/);
  });

  test('fragments do not hide it', () => {
    const hidden = nested(13).replace('mcpServer { runtimes(first: 1) { id } }', '...F');
    expect(() => check(`${hidden} fragment F on Tool { mcpServer { runtimes(first: 1) { id } } }`)).toThrow(/levels/);
  });
});

describe('width', () => {
  test('aliases', () => {
    const aliased = (count: number) =>
      `{ ${Array.from({ length: count }, (_, i) => `a${i}: viewer { id }`).join(' ')} }`;
    expect(() => check(aliased(limits.aliases))).not.toThrow();
    expect(() => check(aliased(limits.aliases + 1))).toThrow(/more than 50 aliases/);
  });

  test('fields are counted, each fragment at each use, before the count itself costs too much', () => {
    const bomb = [
      'query { viewer { ...F0 } }',
      ...Array.from({ length: 40 }, (_, i) => `fragment F${i} on Viewer { ...F${i + 1} ...F${i + 1} }`),
      'fragment F40 on Viewer { id }',
    ].join(' ');
    const began = workedMs();
    expect(() => check(bomb)).toThrow(/more than 1000 fields/);
    expect(workedMs() - began).toBeLessThan(1000);
  });

  test('introspection fields are counted too', () => {
    const fields = 'name kind description '.repeat(400);
    expect(() => check(`{ __schema { types { ${fields} } } }`)).toThrow(/fields/);
  });

  test('an alias is short, also in an introspection', () => {
    const name = 'a'.repeat(limits.aliasLength);
    expect(() => check(`{ ${name}: viewer { id } }`)).not.toThrow();
    expect(() => check(`{ ${name}a: viewer { id } }`)).toThrow(/more than 100 characters/);
    expect(() => check(`{ __schema { types { ${name}a: name } } }`)).toThrow(/more than 100 characters/);
  });

  test('an alias of a field of each node counts for each node', () => {
    const named = (aliases: string) => inWorkspace(`skills { nodes { tools(first: 1000) { ${aliases} } } }`);
    expect(() => check(named('__typename'))).not.toThrow();
    expect(() => check(named('a: __typename'))).toThrow(/nodes/);
  });

  test('an introspection of the whole schema is accepted, and its nested lists are not', () => {
    expect(() => check(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }))).not.toThrow();
    const nested = 'types { fields { type { fields { type { fields { name } } } } } }';
    expect(() => check(`{ __schema { ${nested} } }`)).toThrow(/nodes/);
    const twice = 'types { fields { type { fields { a: name b: name c: name } } } }';
    expect(() => check(`{ __schema { ${twice} } }`)).toThrow(/nodes/);
  });
});
