import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RawAnswer, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { canSandbox } from '../../../services/runtime/test/sandboxed.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import {
  createMcpServerMutation,
  healthOfMcpServersQuery,
  type LaunchInput,
  removeMcpServerMutation,
} from '../../client/generated/operations.ts';
import type { Topology } from '../../settings/choices.ts';
import { misbehaving, repository } from '../foreign-servers.ts';
import { startTwoHomes, type TwoHomes } from '../homes.ts';
import { startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { runningProcesses } from '../running-processes.ts';
import { until } from '../until.ts';
import { memberClient } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { openSessionWith } from './trap.ts';
import { startVictim, type Victim } from './victim.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A hostile MCP server in workspace A. An agent of workspace B works meanwhile. */
let homes: TwoHomes;
/** The client that adds the hostile MCP server. An operator's MCP server runs without a sandbox, a member's in one. */
let adds: BackendClient;
let victim: Victim;

async function start(topology: Topology): Promise<void> {
  // The folder of the hostile script and of the Node that runs it.
  const settings = (yaml: string) => yaml.replace('allowedPaths: []', `allowedPaths: [${repository}]`);
  homes = await startTwoHomes({ topology, settings });
  victim = await startVictim(homes);
}

function hostile(mode: string): LaunchInput {
  const [command = '', ...args] = misbehaving('hostile');
  return { command, args: [...args, mode] };
}

let count = 0;
async function addServer(by: BackendClient, workspace: string, launch: LaunchInput) {
  const name = `hostile-${count++}`;
  const { createMcpServer } = await by.send(createMcpServerMutation, { workspace, input: { name, launch } });
  return { name, id: createMcpServer.id };
}

async function stateOf(workspace: string, id: string) {
  const seen = await homes.backend.send(healthOfMcpServersQuery, { workspace, first: 100 });
  return seen.workspace?.mcpServers.nodes.find((one) => one.id === id) ?? expect.fail(`${id} is gone`);
}

async function addConnected(by: BackendClient, workspace: string, mode = '') {
  const added = await addServer(by, workspace, hostile(mode));
  await until(async () => (await stateOf(workspace, added.id)).status === 'Connected', slowlyMs);
  return added;
}

/** Five thousand tools are stored, on a machine with other work. */
const slowlyMs = 40_000;

/** Adds a hostile MCP server, and an agent of its workspace that has called it. */
async function addCalled() {
  const { name, id } = await addConnected(adds, homes.a.workspace);
  const session = await openSessionWith(homes, homes.a, { mcpServer: name, tool: 'echo' });
  const call = (text: string, _meta: object = {}): Promise<RawAnswer> => {
    const params = { name: 'call_tool', arguments: { name: `${name}_echo`, arguments: { text } }, _meta };
    return send(homes.platform.mcpUrl, { key: homes.a.same.keyText, session, body: rpc('tools/call', params, 7) });
  };
  await until(async () => (await call('x')).text.includes('"text":"x"'));
  return { name, id, call };
}

/** A new MCP server in workspace B must be Connected soon, which proves that its reports arrive. */
async function expectReportsArrive(): Promise<void> {
  await addConnected(homes.backend, homes.b.workspace);
}

/** The number of processes on this machine with this argument. */
function processesWith(argument: string): number {
  return runningProcesses().filter(({ command }) => command.split('\n').includes(argument)).length;
}

const confinements = [
  ['without a sandbox', 'none', true, async () => homes.backend],
  ['in a sandbox', 'bwrap', canSandbox, () => memberClient(homes.platform, homes.a.owner.email)],
] as const;

/**
 * MCP servers without a sandbox are tried on one topology. Nothing between a process and its runtime depends on the
 * topology.
 */
function confinementsOn(topology: Topology) {
  return topology === 'embedded' ? confinements : confinements.filter(([, sandbox]) => sandbox === 'bwrap');
}

onEachTopology(
  (topology) => {
    beforeAll(() => start(topology), startTimeoutMs);
    afterAll(() => homes.platform[Symbol.asyncDispose](), startTimeoutMs);

    describe.each(confinementsOn(topology))('%s', (_, sandbox, canRun, adder) => {
      describe.skipIf(!canRun)('an MCP server that', () => {
        let called: Awaited<ReturnType<typeof addCalled>>;
        beforeAll(async () => {
          adds = await adder();
          called = await addCalled();
          expect((await stateOf(homes.a.workspace, called.id)).sandboxes).toEqual([sandbox]);
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
            const { workspace } = homes.a;
            const { id } = await addServer(adds, workspace, launch);
            await until(async () => {
              const seen = await stateOf(workspace, id);
              return seen.status === status && why.test(seen.reason?.message ?? '');
            }, 2 * slowlyMs);
            await expectReportsArrive();
          });
        });

        test('answers with invalid JSON fails those calls alone, at once', async () => {
          const { name, call } = called;
          await victim.expectUndisturbedBy(async () => {
            for (const message of ['words', 'open', 'crossed', 'twice', 'control', 'deep', 'large']) {
              const begun = performance.now();
              const { body } = await call(message);
              expect([message, body.id, body.result]).toEqual([message, 7, undefined]);
              expect(body.error.message).toMatch(new RegExp(`"${name}".*(not valid JSON|nested|at most)`));
              expect(performance.now() - begun).toBeLessThan(10_000);
              expect((await call('again')).text).toContain('again');
            }
          });
        });

        test.each(['flood', 'endless', 'stderr'])(
          'writes without end (%s) has its call answered, and no other agent receives it',
          async (message) => {
            await victim.expectUndisturbedBy(async () => {
              const { text } = await called.call(message, { progressToken: 'mine' });
              expect(text).toContain('done');
              expect(text).not.toContain('stolen');
              const tokens = [...text.matchAll(/"progressToken":("[^"]*"|\d+)/g)].map(([, token]) => token);
              expect(new Set(tokens)).toEqual(new Set(message === 'flood' ? ['"mine"'] : []));
              await expectReportsArrive();
            });
          },
        );

        test('ignores SIGTERM is killed, and its workspace keeps working', async () => {
          await victim.expectUndisturbedBy(async () => {
            const { workspace } = homes.a;
            const { id } = await addConnected(adds, workspace, 'stubborn');
            expect(processesWith('stubborn')).toBeGreaterThan(0);
            await homes.backend.send(removeMcpServerMutation, { workspace, id });
            await expectReportsArrive();
            await until(() => processesWith('stubborn') === 0, slowlyMs);
          });
        });
      });
    });
  },
  { isLong: true },
);
