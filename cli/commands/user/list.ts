import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { SvcCommand } from '../../command.ts';
import { table } from '../../output/table.ts';
import { installationOf } from '../../platform.ts';
import { fetchWorkspaces } from '../../workspaces.ts';

export default class UserList extends SvcCommand {
  static override summary = 'List the people who own workspaces.';
  static override aliases = ['users:list'];
  static override examples = [
    { description: 'All owners', command: '<%= config.bin %> user list' },
    { description: 'For a script', command: '<%= config.bin %> user list --json' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(UserList);
    const terminal = this.terminal(flags);
    const workspaces = await fetchWorkspaces(await connectToBackend(installationOf(flags)));
    const owned = Map.groupBy(
      workspaces.flatMap(({ name, owner }) => (owner === null ? [] : [{ workspace: name, ...owner }])),
      ({ email }) => email,
    );
    const users = [...owned].map(([email, own]) => ({
      ...{ email, name: own[0]?.name ?? '' },
      workspaces: own.map(({ workspace }) => ({ name: workspace, role: 'owner' })),
    }));
    terminal.json({ users });
    const rows = users.map((user) => [user.email, 'owner', user.workspaces.map(({ name }) => name).join(', ')]);
    terminal.result(
      rows.length === 0
        ? 'No workspace has an owner. Create one: svc workspace create NAME --owner-email EMAIL'
        : table(['EMAIL', 'ROLE', 'WORKSPACES'], rows, terminal.columns),
    );
  }
}
