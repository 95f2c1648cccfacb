import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Assigned } from '../../contracts/bus/messages.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Backend } from '../context.ts';
import type { Graph, WithGraph } from '../graph/graph.ts';
import { createMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { encryptLaunch } from '../servers/launch.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, connectRuntime, type TestRuntime } from '../test/test-runtime.ts';
import { answerHandshakes } from './handshake.ts';
import { registerRuntime } from './register-runtime.ts';
import { answerReports } from './report.ts';
import { startRuntimes } from './start-runtimes.ts';
import { Turns } from './turns.ts';

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;

beforeAll(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
});
afterAll(async () => {
  await started.stop();
  await backend.close();
});

/** A backend whose handshakes and reports wait at their first page of MCP servers until they are released. */
function holdSelections(): { readonly held: WithGraph; readonly letGo: () => void } {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  const select: Graph['select'] = async (selection) => {
    await promise;
    return await backend.graph.select(selection);
  };
  const graph = new Proxy(backend.graph, {
    get(target, name) {
      if (name === 'select') return select;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { held: { graph }, letGo };
}

let count = 0;

async function newWorkspace() {
  const { id, owner } = await addWorkspace(backend, `workspace-${count++}`);
  return {
    id,
    addServer: (name: string, args: readonly string[] = [], runtime = '') =>
      createMcpServer(backend, owner, id, { name, launch: { command: 'run', args }, runtime }),
    move: async (name: string, runtime: string) => {
      const server = await backend.graph.findBy('mcpServer', { name }, id);
      await updateMcpServer(backend, owner, id, server?.id ?? '', { runtime });
    },
    /** A process of the runtime with that name. */
    addProcess: async (name: string) => {
      const { secret: key } = await registerRuntime(backend, owner, { workspace: id, name });
      return await connectRuntime(backend, { kind: 'runtime', key });
    },
  };
}

type Workspace = Awaited<ReturnType<typeof newWorkspace>>;

/** Stored before launches had a limit. */
async function addLargeServer({ id, addServer }: Workspace, name: string): Promise<void> {
  const server = await addServer(name);
  const launch = {
    kind: 'child',
    command: 'run',
    args: Array(60).fill('a'.repeat(60_000)),
    cwd: null,
    env: {},
  } as const;
  const ciphertext = encryptLaunch(backend, server.id, { launch, plain: [], declared: [], setBy: 'member' });
  await backend.graph.write((transaction) =>
    transaction.update('mcpServer', server.id, { launch: ciphertext }, { anchor: id }),
  );
}

const toldOf = (told: readonly Assigned[] | null, { id }: Pick<Workspace, 'id'>) =>
  Object.fromEntries(
    (told ?? [])
      .filter(({ workspace }) => workspace === id)
      .map((one) => [one.name, 'launch' in one ? 'launch' : one.refused]),
  );

test('launches stored before the limit are refused by name, and others arrive', async () => {
  const hostile = await newWorkspace();
  for (let i = 0; i < 4; i++) await addLargeServer(hostile, `large-${i}`);
  const other = await newWorkspace();
  await other.addServer('files');
  const { etag, assignments } = await cloud.shakeHands();
  expect(toldOf(assignments, other)).toEqual({ files: 'launch' });
  const refused = {
    code: 'launch_too_large',
    message: expect.stringMatching(/^The launch of "large-3" .* on the runtime "cloud"/),
    repair: expect.stringContaining('svc runtime register'),
  };
  expect(toldOf(assignments, hostile)).toMatchObject({ 'large-3': refused });
  // The same answer as long as nothing changes.
  expect((await cloud.shakeHands(etag)).assignments).toBeNull();
  await other.addServer('documents');
  expect(toldOf((await cloud.shakeHands(etag)).assignments, other)).toEqual({ files: 'launch', documents: 'launch' });
});

test('launches of the largest allowed size and number leave room for another workspace', async () => {
  const hostile = await newWorkspace();
  for (let i = 0; i < 100; i++) await hostile.addServer(`large-${i}`, ['a'.repeat(65_000)]);
  const other = await newWorkspace();
  for (let i = 0; i < 30; i++) await other.addServer(`files-${i}`, ['a'.repeat(5000)]);
  const { assignments } = await cloud.shakeHands();
  expect(Object.values(toldOf(assignments, other))).toEqual(Array(30).fill('launch'));
  expect(Object.keys(toldOf(assignments, hostile))).toHaveLength(100);
});

test('another runtime of the workspace has room for launches that the first does not get', async () => {
  const { id, addProcess, addServer, move } = await newWorkspace();
  const office = await addProcess('office');
  for (let i = 0; i < 40; i++) await addServer(`bound-${i}`, ['a'.repeat(65_000)], 'office');
  const last = async (runtime: TestRuntime) => toldOf((await runtime.shakeHands()).assignments, { id })['bound-39'];
  expect(await last(office)).toMatchObject({ code: 'launch_too_large' });
  const attic = await addProcess('attic');
  await move('bound-39', 'attic');
  expect(await last(attic)).toBe('launch');
});

interface Row {
  readonly what: string;
  readonly answer: (held: Backend) => Subscription;
  readonly ask: (runtime: TestRuntime) => Promise<unknown>;
}

const rows: readonly Row[] = [
  { what: 'handshakes', answer: answerHandshakes, ask: (runtime) => runtime.shakeHands() },
  { what: 'reports', answer: (held) => answerReports(held, new Turns()), ask: (runtime) => runtime.report([], true) },
];
test.each(rows)('$what of one workspace leave places for those of others', async ({ what, answer, ask }) => {
  const hostile = await newWorkspace();
  const many: TestRuntime[] = [];
  for (let i = 0; i < 9 * 8; i++) many.push(await hostile.addProcess(`runtime-${i % 9}`));
  const other = await (await newWorkspace()).addProcess('office');
  await started.stop();
  const { held, letGo } = holdSelections();
  const answering = answer({ ...backend, ...held });
  const asked = many.map(ask);
  let refused = 0;
  for (const one of asked) one.catch(() => refused++);
  // Those without a place are refused at once, and all others wait.
  await vi.waitFor(() => expect(refused).toBe(9 * 8 - 16), { timeout: 10_000 });
  const ofOther = ask(other);
  letGo();
  await ofOther;
  await expect(Promise.all(asked)).rejects.toMatchObject({
    code: 'rate_limited',
    message: `This workspace may hold at most 16 ${what} at once.`,
  });
  await answering.stop();
  started = await startRuntimes(backend);
});
