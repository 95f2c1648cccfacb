import { randomText } from '../../../services/contracts/ids.ts';
import { openSession, type RawAnswer, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { createMcpServerMutation, createRoleMutation, createSkillMutation } from '../../client/generated/operations.ts';
import type { Home, TwoHomes } from '../homes.ts';
import { until } from '../until.ts';
import type { HostileRuntime } from './hostile-runtime.ts';

export type Trap = Awaited<ReturnType<typeof setTrap>>;

/** A tool of the attacker, in workspace A. A call to it shows the attacker's runtime how calls look on the bus. */
export async function setTrap(homes: TwoHomes, runtime: HostileRuntime) {
  const { platform, backend, a } = homes;
  const name = `trap-${randomText(8).toLowerCase()}`;
  const input = { name, runtime: runtime.identity.name, launch: { command: 'true', args: [] } };
  const { createMcpServer } = await backend.send(createMcpServerMutation, { workspace: a.workspace, input });
  const connected = {
    ...{ mcpServer: createMcpServer.id, configVersion: 1, status: 'Connected', health: 'green', reason: null },
    ...{ restarts: 0, startedAt: Date.now(), nextRetryAt: null, stderr: [], tools: 1 },
  };
  const definition = JSON.stringify({ name, inputSchema: { type: 'object' } });
  const { headers, payload } = await runtime.report([connected], [{ name, definition }]);
  if (!headers.includes('final')) throw new Error(`the report was refused: ${payload}`);
  const session = await openSessionWith(homes, a, { mcpServer: name, tool: name });
  return {
    runtime,
    /** An agent of the attacker calls the tool, with arguments of this size. */
    async spring(sizeBytes = 0) {
      const body = rpc('tools/call', { name, arguments: { text: 'x'.repeat(sizeBytes) } });
      const calling: Promise<RawAnswer> = send(platform.mcpUrl, { key: a.same.keyText, session, body });
      return { call: await runtime.nextCall(), calling };
    },
  };
}

interface ToolOf {
  readonly mcpServer: string;
  readonly tool: string;
}

/**
 * Opens a session of an agent of the home, with the tool disclosed. remote-mcp learns of new objects a moment later.
 */
export async function openSessionWith({ platform, backend }: TwoHomes, home: Home, tool: ToolOf): Promise<string> {
  const { workspace } = home;
  const name = tool.mcpServer;
  const { createSkill } = await backend.send(createSkillMutation, { workspace, input: { name, tools: [tool] } });
  await backend.send(createRoleMutation, { workspace, input: { name, skills: [createSkill.id] } });
  const url = `${platform.mcpUrl}?skillIds=${createSkill.id}`;
  let session = '';
  await until(async () => {
    session = await openSession(url, home.same.keyText).catch(() => '');
    return session !== '';
  });
  return session;
}
