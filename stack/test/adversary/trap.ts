import { z } from 'zod';
import { randomText } from '../../../services/contracts/ids.ts';
import { openSession, type RawAnswer, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import type { Home } from '../homes.ts';
import type { Platform } from '../platform.ts';
import { until } from '../until.ts';
import type { Called, HostileRuntime } from './hostile-runtime.ts';

export interface TrapOptions {
  readonly platform: Platform;
  readonly backend: BackendClient;
  readonly home: Home;
  readonly runtime: HostileRuntime;
}

/** A tool of the attacker's own. Whoever calls it shows the attacker's runtime what calls look like on the bus. */
export interface Trap {
  readonly runtime: HostileRuntime;
  /** Has it called by an agent of the attacker's, with arguments of this size. */
  spring(sizeBytes?: number): Promise<{ readonly call: Called; readonly calling: Promise<RawAnswer> }>;
}

const made = z.object({ id: z.string() });

export async function setTrap({ platform, backend, home, runtime }: TrapOptions): Promise<Trap> {
  const [w, name] = [home.workspace, `trap-${randomText(8).toLowerCase()}`];
  const { createMcpServer } = await backend.query(
    'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
    { w, input: { name, runtime: runtime.identity.name, launch: { command: 'true', args: [] } } },
    z.object({ createMcpServer: made }).parse,
  );
  const { headers, payload } = await runtime.reportConnected(createMcpServer.id, [name]);
  if (!headers.includes('final')) throw new Error(`the report was refused: ${payload}`);
  const { createSkill } = await backend.query(
    'mutation ($w: ID!, $skill: SkillInput!) { createSkill(workspace: $w, input: $skill) { id } }',
    { w, skill: { name, tools: [{ mcpServer: name, tool: name }] } },
    z.object({ createSkill: made }).parse,
  );
  await backend.query(
    'mutation ($w: ID!, $role: RoleInput!) { createRole(workspace: $w, input: $role) { id } }',
    { w, role: { name, skills: [createSkill.id] } },
    z.object({ createRole: made }).parse,
  );
  const key = home.same.keyText;
  const session = await openSoon(`${platform.mcpUrl}?skillIds=${createSkill.id}`, key);
  const body = (text: string) => rpc('tools/call', { name, arguments: { text } });
  return {
    runtime,
    async spring(sizeBytes = 0) {
      const calling = send(platform.mcpUrl, { key, session, body: body('x'.repeat(sizeBytes)) });
      return { call: await runtime.nextCall(), calling };
    },
  };
}

/** What was just made is known to remote-mcp a moment later. */
async function openSoon(url: string, key: string): Promise<string> {
  let session = '';
  await until(async () => {
    session = await openSession(url, key).catch(() => '');
    return session !== '';
  });
  return session;
}
