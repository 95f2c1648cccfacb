import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { firstWorkspace, workspaceInUse } from '../../../stack/state/workspace-in-use.ts';
import { SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';
import { fetchWorkspaces } from '../../objects/workspaces.ts';
import { table } from '../../output/table.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';

export default class WorkspaceList extends SvcCommand {
  static override summary = 'List workspaces, their owners, and the one in use.';
  static override aliases = ['workspaces:list'];
  static override examples = [
    { description: 'All workspaces', command: '<%= config.bin %> workspace list' },
    { description: 'For a script', command: '<%= config.bin %> workspace list --json' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(WorkspaceList);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const workspaces = await fetchWorkspaces(await connectToBackend(installation));
    const inUse = workspaceInUse.read(installation)?.name ?? firstWorkspace;
    terminal.json({
      workspaces: workspaces.map(({ id, name, suspended, createdAt, owner }) => ({
        ...{ id, name, suspended, createdAt: isoOrNull(createdAt) },
        ...{ owner: owner?.email ?? null, inUse: name === inUse },
      })),
    });
    const rows = workspaces.map(({ name, suspended, owner }) => [
      name,
      suspended ? terminal.paint('yellow', 'suspended') : terminal.paint('green', 'open'),
      owner?.email ?? '',
      name === inUse ? 'in use' : '',
    ]);
    terminal.result(
      rows.length === 0
        ? 'There are no workspaces. Create one: svc workspace create NAME'
        : table(['NAME', 'STATE', 'OWNER', ''], rows, terminal.columns),
    );
  }
}
