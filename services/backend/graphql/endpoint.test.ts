import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Budget } from '../../kit/budget.ts';
import type { Backend } from '../context.ts';
import { createRole } from '../roles/change-roles.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { createSkill } from '../skills/change-skills.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { createGraphqlEndpoint } from './endpoint.ts';
import { Operation } from './operation.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await openTestBackend();
});
afterAll(() => backend.close());

const memory = new Budget({ what: 'bytes of memory', hint: 'Wait.', total: 1e9, shares: { user: 1e9 } });

interface AskOptions {
  readonly deadlineMs?: number;
  readonly operation?: Operation;
}

const newOperation = () => new Operation('root', memory.hold({ user: 'root' }, 0));

async function ask(over: Backend, query: string, { deadlineMs, operation = newOperation() }: AskOptions = {}) {
  const endpoint = createGraphqlEndpoint(over, deadlineMs);
  const response = await endpoint.answer({
    operation,
    principal: operator,
    requestId: 'request-1',
    body: JSON.stringify({ query }),
    accept: 'application/json',
  });
  return JSON.parse(await response.text());
}

/** Bytes of the heap after a full collection. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test.each([
  ['long ones', (at: number) => `{ viewer { name } } # ${at} ${'\u0436'.repeat(1_000_000)}`],
  ['long ones with a fault', (at: number) => `{ nothing${at} } # ${'\u0436'.repeat(1_000_000)}`],
  ['long ones that are no GraphQL', (at: number) => `{ ${at} ${'\u0436'.repeat(1_000_000)}`],
  ['dense ones', (at: number) => `{ a${at}: ${'a '.repeat(1900)}}`],
])('documents hold no memory after their operations: %s', async (_what, write) => {
  const endpoint = createGraphqlEndpoint(backend);
  const send = async (at: number) => {
    const body = JSON.stringify({ query: write(at) });
    const operation = newOperation();
    const asked = { operation, principal: operator, requestId: 'request-1', body, accept: 'application/json' };
    await (await endpoint.answer(asked)).text();
  };
  await send(0);
  const before = liveBytes();
  for (let at = 1; at <= 40; at++) await send(at);
  expect(liveBytes() - before).toBeLessThan(20_000_000);
});

test('an operation leaves the whole fetch of Node unloaded', async () => {
  const given = Object.getOwnPropertyDescriptor(globalThis, 'Request');
  let isLoaded = false;
  const get = () => {
    isLoaded = true;
    return undefined;
  };
  Object.defineProperty(globalThis, 'Request', { configurable: true, get });
  try {
    expect(await ask(backend, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
  } finally {
    Object.defineProperty(globalThis, 'Request', given ?? {});
  }
  expect(isLoaded).toBe(false);
});

describe('a fault below GraphQL', () => {
  test('that is a bug is logged once, under an id, without its text in the answer', async () => {
    const broken: Backend = {
      ...backend,
      graph: { ...backend.graph, select: () => Promise.reject(new TypeError('the hidden text')) },
    };
    const { errors } = await ask(broken, '{ workspaces { nodes { id } } }');
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^Something went wrong inside the platform \(bug (\w{10})\)\.$/),
        path: ['workspaces'],
        locations: expect.anything(),
        extensions: { code: 'internal', hint: expect.stringContaining('svc logs'), request: 'request-1' },
      },
    ]);
    const [, bug = ''] = /bug (\w+)/.exec(errors[0].message) ?? [];
    const lines = backend.logged.filter((line) => line.includes('the hidden text'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ bug, request: 'request-1', level: 'error' });
  });

  test('that lasts is reported at the deadline', async () => {
    const silent: Backend = { ...backend, graph: { ...backend.graph, select: () => new Promise(() => undefined) } };
    const began = performance.now();
    const { errors } = await ask(silent, '{ workspaces { nodes { id } } }', { deadlineMs: 50 });
    expect(errors).toMatchObject([{ extensions: { code: 'timeout', request: 'request-1' } }]);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('after its deadline', () => {
  const timeout = [{ extensions: { code: 'timeout' } }];

  test('an operation ends with the running read, and reads nothing more', async () => {
    const answered = Promise.withResolvers<void>();
    let reads = 0;
    const slow: Backend = {
      ...backend,
      graph: {
        ...backend.graph,
        async select(selection) {
          reads += 1;
          await answered.promise;
          return await backend.graph.select(selection);
        },
      },
    };
    const operation = newOperation();
    let hasEnded = false;
    void operation.ended.then(() => {
      hasEnded = true;
    });
    const query = '{ a: workspaces { nodes { id } } b: workspaces { nodes { id } } }';
    expect((await ask(slow, query, { deadlineMs: 50, operation })).errors).toMatchObject(timeout);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    answered.resolve();
    await operation.ended;
    expect(reads).toBe(1);
  });

  test('a waiting change is not made', async () => {
    const { id } = await addWorkspace(backend, 'late');
    const turn = Promise.withResolvers<void>();
    const slow: Backend = {
      ...backend,
      graph: {
        ...backend.graph,
        async write(work) {
          await turn.promise;
          return await backend.graph.write(work);
        },
      },
    };
    const operation = newOperation();
    const query = `mutation { createRole(workspace: "${id}", input: { name: "Late" }) { id } }`;
    expect((await ask(slow, query, { deadlineMs: 50, operation })).errors).toMatchObject(timeout);
    turn.resolve();
    await operation.ended;
    expect(await backend.graph.findBy('role', { name: 'Late' }, id)).toBe(null);
  });
});

test.each([
  ['{ workspaces(first: "s3cret") { nodes { id } } }', 'Int cannot represent non-integer value: [not shown].'],
  ['{ nothing "s3cret" }', 'Syntax Error: Expected Name, found String [not shown].'],
  ['{ nothing(', 'Syntax Error: Expected Name, found <EOF>.'],
  [
    'mutation { createRole(workspace: "w", input: "s3cret") { id } }',
    'Expected value of type "RoleInput!", found [not shown].',
  ],
  [
    'mutation { createRole(workspace: "w", input: { name: ["s3cret", { a: "s3cret" }] }) { id } }',
    'String cannot represent a non string value: [not shown].',
  ],
])('a value in the wrong place is refused and not repeated: %s', async (query, message) => {
  const { errors } = await ask(backend, query);
  expect(errors[0]).toMatchObject({ message, extensions: { code: 'invalid_input' } });
  expect(JSON.stringify(errors)).not.toContain('s3cret');
});

test('a page of nodes costs one round trip for each level, however many nodes it holds', async () => {
  const { id, owner } = await addWorkspace(backend, 'w');
  for (const name of ['one', 'two', 'three']) {
    await createMcpServer(backend, owner, id, { name, launch: { command: 'x' } });
  }
  for (let i = 0; i < 20; i++) {
    const tools = ['one', 'two', 'three'].map((mcpServer) => ({ mcpServer, tool: `tool-${i}` }));
    const skill = await createSkill(backend, owner, id, { name: `skill-${i}`, tools });
    await createRole(backend, owner, id, { name: `role-${i}`, skills: [skill.id] });
  }
  const trips: string[] = [];
  const { graph } = backend;
  const counted: Backend = {
    ...backend,
    graph: {
      ...graph,
      find: (type, node, anchor) => {
        trips.push(`find ${type}`);
        return graph.find(type, node, anchor);
      },
      select: (selection) => {
        trips.push(`select ${selection.type}`);
        return graph.select(selection);
      },
      follow: (edge, from, options) => {
        trips.push(`${edge.from}.${edge.edge}`);
        return graph.follow(edge, from, options);
      },
      followBack: (edge, to, options) => {
        trips.push(`${edge.from}.${edge.edge} back`);
        return graph.followBack(edge, to, options);
      },
    },
  };
  const { data } = await ask(
    counted,
    `{ workspace(id: "${id}") { roles { nodes { name skills(first: 10) {
      name available tools(first: 50) { name } mcpServers(first: 5) { name status }
    } } } } }`,
  );
  expect(data.workspace.roles.nodes).toHaveLength(20);
  expect(data.workspace.roles.nodes[3].skills[0].mcpServers).toHaveLength(3);
  const counts = Object.fromEntries(
    Map.groupBy(trips, (trip) => trip)
      .entries()
      .map(([trip, all]) => [trip, all.length]),
  );
  // Statuses are read twice: for the skill's own state, and, a level deeper, for its MCP servers.
  expect(counts).toEqual({
    'find workspace': 1,
    // Without a process, an MCP server's reason names its runtime.
    'mcpServer.runtimes': 1,
    'select role': 1,
    'role.skills': 1,
    'skill.tools': expect.toSatisfy((count: number) => count <= 2),
    'tool.server': 1,
    'toolPattern.of back': 1,
    'status.server back': expect.toSatisfy((count: number) => count <= 2),
  });
});
