import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { type BackendClient, connectToBackend } from '../../../stack/client/backend-client.ts';
import { everyPage } from '../../../stack/client/every-page.ts';
import { keysQuery, removeWorkspaceMutation } from '../../../stack/client/generated/operations.ts';
import { workspaceInUse } from '../../../stack/state/workspace-in-use.ts';
import { SvcCommand } from '../../command.ts';
import { requireName } from '../../consent.ts';
import { installationOf } from '../../objects/platform.ts';
import { fetchRoles } from '../../objects/roles.ts';
import { fetchRuntimes } from '../../objects/runtimes.ts';
import { fetchServers } from '../../objects/servers.ts';
import { fetchSkills } from '../../objects/skills.ts';
import { fetchWorkspaces, getWorkspace } from '../../objects/workspaces.ts';

/** Longer than the backend works in one call. */
const callTimeoutMs = 30_000;

export default class WorkspaceRemove extends SvcCommand {
  static override summary = 'Remove a workspace with everything in it, for good.';
  static override description =
    'Its MCP servers stop, its keys are refused and its runtimes are revoked. An interrupted removal continues in the background.';
  static override aliases = ['workspaces:remove'];
  static override examples = [
    { description: 'Remove one; its name must be typed', command: '<%= config.bin %> workspace remove Acme' },
    { description: 'In a script', command: '<%= config.bin %> workspace remove Acme --confirm Acme' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    confirm: Flags.string({ summary: 'The name of the workspace, instead of typing it.', helpValue: 'NAME' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WorkspaceRemove);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const backend = await connectToBackend(installation);
    const { id, name, revision } = await getWorkspace(backend, args.name);
    const content = await countContent(backend, id);
    terminal.talk(`Removing the workspace ${name} removes ${inWords(content)}its files, usage and history.`);
    await requireName(terminal, { of: 'workspace', name, typed: flags.confirm, declined: 'Nothing was removed.' });
    await removeAll(backend, { id, ifRevision: revision });
    if (workspaceInUse.read(installation)?.name === name) workspaceInUse.remove(installation);
    terminal.json({ id, name, removed: true, affected: content });
    terminal.result(`Removed workspace ${name}.`);
    if ((await fetchWorkspaces(backend)).length === 0) {
      terminal.talk('It was the last one. Create another: svc workspace create NAME');
    }
  }
}

/** The backend closes the workspace in the first call, and removes as much as it can in each. */
async function removeAll(
  backend: BackendClient,
  removal: { readonly id: string; readonly ifRevision: number },
): Promise<void> {
  for (;;) {
    const { removeWorkspace: isDone } = await backend.send(removeWorkspaceMutation, removal, {
      timeoutMs: callTimeoutMs,
    });
    if (isDone) return;
  }
}

interface Content {
  readonly kind: string;
  readonly count: number;
}

async function countContent(backend: BackendClient, workspace: string): Promise<readonly Content[]> {
  const [servers, skills, roles, keys, runtimes] = await Promise.all([
    fetchServers(backend, workspace),
    fetchSkills(backend, workspace),
    fetchRoles(backend, workspace),
    everyPage(async (page) => (await backend.send(keysQuery, { workspace, ...page })).workspace?.keys),
    fetchRuntimes(backend, workspace),
  ]);
  return [
    { kind: 'mcpServer', count: servers.length },
    { kind: 'skill', count: skills.length },
    { kind: 'role', count: roles.length },
    { kind: 'key', count: keys.filter(({ state }) => state === 'valid').length },
    { kind: 'runtime', count: runtimes.filter(({ platform }) => !platform).length },
  ];
}

const words: Readonly<Record<string, string>> = { mcpServer: 'MCP server' };

function inWords(content: readonly Content[]): string {
  return content
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${words[kind] ?? kind}${count === 1 ? '' : 's'}, `)
    .join('');
}
