import { shellWord } from '../../services/contracts/shell-word.ts';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { keysQuery, rolesQuery, skillsQuery, workspaceQuery } from '../../stack/client/generated/operations.ts';
import type { Status } from '../../stack/lifecycle/platform-status.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { firstWorkspace, workspaceInUse } from '../../stack/state/workspace-in-use.ts';

/** A platform without MCP servers offers no tools yet. */
const firstServer = 'server add everything -- npx -y @modelcontextprotocol/server-everything';

/** A start must not fail or wait because of a suggestion. */
const timeoutMs = 3000;

/** The words of the command that a person needs next, after `svc`. */
export async function nextStep(status: Status, installation: Installation): Promise<string> {
  const unwell = status.services.find(({ health }) => health !== 'green');
  if (unwell !== undefined) return `logs ${unwell.name}`;
  const [server] = status.mcpServers;
  if (server === undefined) return firstServer;
  const failed = status.mcpServers.find((one) => one.status === 'Error');
  if (failed !== undefined)
    return `server show ${shellWord(failed.name)}${inWorkspace(failed.workspace, installation)}`;
  return await missingStep(server, installation).catch(() => 'status');
}

/** What an agent still misses in the workspace of this MCP server. */
async function missingStep(
  { name, workspace }: Status['mcpServers'][number],
  installation: Installation,
): Promise<string> {
  const backend = await connectToBackend(installation);
  const signal = AbortSignal.timeout(timeoutMs);
  const found = (await backend.send(workspaceQuery, { name: workspace }, { signal })).workspace;
  if (found === null) return 'status';
  const page = { workspace: found.id, first: keysMax };
  const [skills, roles, keys] = await Promise.all([
    backend.send(skillsQuery, { ...page, first: 1 }, { signal }),
    backend.send(rolesQuery, { ...page, first: 1 }, { signal }),
    backend.send(keysQuery, page, { signal }),
  ]);
  const [skill] = skills.workspace?.skills?.nodes ?? [];
  const where = inWorkspace(workspace, installation);
  if (skill === undefined) return `skill create NAME --tool ${shellWord(`${name}/TOOL`)}${where}`;
  const [role] = roles.workspace?.roles?.nodes ?? [];
  if (role === undefined) return `role create Everyone --skill ${shellWord(skill.name)}${where}`;
  const isKeyed = keys.workspace?.keys?.nodes.some(({ state }) => state === 'valid') ?? false;
  return isKeyed ? `connect${where}` : `keys create laptop${where}`;
}

/** Old keys may be revoked. With more of them than this the suggestion does not matter. */
const keysMax = 100;

function inWorkspace(name: string, installation: Installation): string {
  const inUse = workspaceInUse.read(installation)?.name ?? firstWorkspace;
  return name === inUse ? '' : ` --workspace ${shellWord(name)}`;
}
