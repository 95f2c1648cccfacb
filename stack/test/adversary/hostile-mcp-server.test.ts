import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openSession, type RawAnswer, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { canSandbox } from '../../../services/runtime/test/sandboxed.ts';
import { type BackendClient, openBackendClient } from '../../client/backend-client.ts';
import type { Topology } from '../../settings/choices.ts';
import { misbehaving, repository } from '../foreign-servers.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { memberToken } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { Victim } from './victim.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** An MCP server that does its worst, in a workspace of its own. An agent of another workspace works on meanwhile. */
let platform: Platform;
let backend: BackendClient;
/** Adds the hostile one. What an operator adds runs without a sandbox, and what a member adds in one. */
let adds: BackendClient;
let a: Home;
let b: Home;
let victim: Victim;

async function start(topology: Topology): Promise<void> {
  // Where the hostile script and the Node that runs it lie.
  const settings = (yaml: string) => yaml.replace('allowedPaths: []', `allowedPaths: [${repository}]`);
  ({ platform, backend, a, b } = await startTwoHomes({ topology, settings }));
  victim = await Victim.start({
    mcpUrl: `${platform.mcpUrl}?skillIds=${b.same.skill}`,
    ...{ key: b.same.keyText, tool: 'echo', arguments: { message: 'still here' }, answer: 'still here' },
  });
}

/** The owner of the hostile MCP server's workspace. */
async function member(): Promise<BackendClient> {
  const token = await memberToken(platform.installation, a.owner.id);
  return openBackendClient([`http://127.0.0.1:${platform.ports.backend}`], () => token);
}

const made = z.object({ id: z.string() });
const state = z.object({
  status: z.string(),
  sandboxes: z.array(z.string()),
  reason: z.object({ code: z.string(), message: z.string() }).nullable(),
});

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

function hostile(mode: string): Launch {
  const [command = '', ...args] = misbehaving('hostile');
  return { command, args: [...args, mode] };
}

async function addServer(workspace: string, name: string, launch: Launch): Promise<string> {
  const by = workspace === a.workspace ? adds : backend;
  const { createMcpServer } = await by.query(
    'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
    { w: workspace, input: { name, launch } },
    z.object({ createMcpServer: made }).parse,
  );
  return createMcpServer.id;
}

async function stateOf(workspace: string, id: string) {
  const seen = await backend.query(
    'query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) { status sandboxes reason { code message } } } }',
    { w: workspace, id },
    z.object({ workspace: z.object({ mcpServer: state }) }).parse,
  );
  return seen.workspace.mcpServer;
}

async function connected(workspace: string, id: string): Promise<void> {
  await until(async () => (await stateOf(workspace, id)).status === 'Connected', slowlyMs);
}

/** Five thousand tools are stored on a machine that does other things too. */
const slowlyMs = 40_000;

/** An agent of the hostile MCP server's own workspace. */
async function agentOf(name: string) {
  const w = a.workspace;
  const { createSkill } = await backend.query(
    'mutation ($w: ID!, $skill: SkillInput!) { createSkill(workspace: $w, input: $skill) { id } }',
    { w, skill: { name, tools: [{ mcpServer: name, tool: 'echo' }] } },
    z.object({ createSkill: made }).parse,
  );
  await backend.query(
    'mutation ($w: ID!, $role: RoleInput!) { createRole(workspace: $w, input: $role) { id } }',
    { w, role: { name, skills: [createSkill.id] } },
    z.object({ createRole: made }).parse,
  );
  const key = a.same.keyText;
  let session = '';
  const url = `${platform.mcpUrl}?skillIds=${createSkill.id}`;
  await until(async () => {
    session = await openSession(url, key).catch(() => '');
    return session !== '';
  });
  const call = (text: string, _meta: object = {}): Promise<RawAnswer> =>
    send(platform.mcpUrl, {
      ...{ key, session },
      body: rpc(
        'tools/call',
        { name: 'call_tool', arguments: { name: `${name}_echo`, arguments: { text } }, _meta },
        7,
      ),
    });
  return { call };
}

/** What the victim's workspace must still get: a new MCP server there is Connected soon, so that reports arrive. */
let count = 0;
async function expectReportsArrive(): Promise<void> {
  await connected(b.workspace, await addServer(b.workspace, `fresh-${count++}`, hostile('')));
}

/** Processes of this machine with that argument. */
function processesWith(argument: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => argumentsOf(pid).includes(argument)).length;
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const confinements = [
  ['without a sandbox', 'none', true, async () => backend],
  ['in a sandbox', 'bwrap', canSandbox, member],
] as const;

/** Between a process and its runtime nothing depends on the topology, so what runs without a sandbox is tried on one. */
function confinementsOn(topology: Topology) {
  return topology === 'embedded' ? confinements : confinements.filter(([, sandbox]) => sandbox === 'bwrap');
}

onEachTopology(
  (topology) => {
    beforeAll(() => start(topology), startTimeoutMs);
    afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

    describe.each(confinementsOn(topology))('%s', (_, sandbox, canRun, adder) => {
      describe.skipIf(!canRun)('an MCP server that', () => {
        beforeAll(async () => {
          adds = await adder();
          const id = await addServer(a.workspace, `confined-${count++}`, hostile(''));
          await connected(a.workspace, id);
          expect((await stateOf(a.workspace, id)).sandboxes).toEqual([sandbox]);
        });

        test.each([
          ['lists names that cannot be stored', hostile('names'), 'Connected', /left out are "nul .*control character/],
          ['lists 20,001 tools', hostile('many'), 'Connected', /5000 tools|20000 tools/],
          [
            'has a folder whose name fills a reason',
            { ...hostile(''), cwd: `/${'x'.repeat(4050)}` },
            'Error',
            /not an existing folder/,
          ],
          ['is a command of 4,050 characters', { command: 'y'.repeat(4050), args: [] }, 'Error', /y…"/],
        ])('%s says so at itself; reports of others arrive', async (_name, launch, status, why) => {
          await victim.expectUndisturbedBy(async () => {
            const id = await addServer(a.workspace, `hostile-${count++}`, launch);
            await until(async () => (await stateOf(a.workspace, id)).status === status, slowlyMs);
            await until(async () => why.test((await stateOf(a.workspace, id)).reason?.message ?? ''), slowlyMs);
            await expectReportsArrive();
          });
        });

        test('answers with invalid JSON fails those calls alone, at once', async () => {
          const name = `hostile-${count++}`;
          await connected(a.workspace, await addServer(a.workspace, name, hostile('')));
          const { call } = await agentOf(name);
          await until(async () => (await call('x')).text.includes('"text":"x"'));
          await victim.expectUndisturbedBy(async () => {
            for (const said of ['words', 'open', 'crossed', 'twice', 'control', 'deep', 'large']) {
              const begun = performance.now();
              const { body } = await call(said);
              expect([said, body.id, body.result]).toEqual([said, 7, undefined]);
              expect(body.error.message).toMatch(new RegExp(`"${name}".*(not valid JSON|nested|at most)`));
              expect(performance.now() - begun).toBeLessThan(10_000);
              expect((await call('again')).text).toContain('again');
            }
          });
        });

        test.each(['flood', 'endless', 'stderr'])(
          'writes without end (%s) has its call answered, and no other agent receives it',
          async (said) => {
            const name = `hostile-${count++}`;
            await connected(a.workspace, await addServer(a.workspace, name, hostile('')));
            const { call } = await agentOf(name);
            await until(async () => (await call('x')).text.includes('"text":"x"'));
            await victim.expectUndisturbedBy(async () => {
              const { text } = await call(said, { progressToken: 'mine' });
              expect(text).toContain('done');
              expect(text).not.toContain('stolen');
              const tokens = [...text.matchAll(/"progressToken":("[^"]*"|\d+)/g)].map(([, token]) => token);
              expect(new Set(tokens)).toEqual(new Set(said === 'flood' ? ['"mine"'] : []));
              await expectReportsArrive();
            });
          },
        );

        test('ignores SIGTERM is killed, and its workspace keeps working', async () => {
          await victim.expectUndisturbedBy(async () => {
            const id = await addServer(a.workspace, `hostile-${count++}`, hostile('stubborn'));
            await connected(a.workspace, id);
            expect(processesWith('stubborn')).toBeGreaterThan(0);
            await backend.query(
              'mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }',
              { w: a.workspace, id },
              () => undefined,
            );
            await expectReportsArrive();
            await until(() => processesWith('stubborn') === 0, slowlyMs);
          });
        });
      });
    });
  },
  { isLong: true },
);
