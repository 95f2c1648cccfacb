import * as Flags from '@oclif/core/flags';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { inParallel } from '../../../stack/client/in-parallel.ts';
import { SvcCommand } from '../../command.ts';
import { fetchMembers } from '../../objects/members.ts';
import { installationOf } from '../../objects/platform.ts';
import { fetchWorkspaces, getWorkspace } from '../../objects/workspaces.ts';
import { table } from '../../output/table.ts';

export default class UserList extends SvcCommand {
  static override summary = 'List people, the workspaces that they are members of, and their roles there.';
  static override aliases = ['users:list'];
  static override examples = [
    { description: 'All people', command: '<%= config.bin %> user list' },
    { description: 'Of one workspace, for a script', command: '<%= config.bin %> user list --workspace Acme --json' },
  ];
  static override flags = {
    workspace: Flags.string({ summary: 'Workspace to look at. Default: all.', helpValue: 'NAME' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(UserList);
    const terminal = this.terminal(flags);
    const backend = await connectToBackend(installationOf(flags));
    const workspaces =
      flags.workspace === undefined ? await fetchWorkspaces(backend) : [await getWorkspace(backend, flags.workspace)];
    const found = await inParallel(workspaces, async ({ id, name }) =>
      (await fetchMembers(backend, id)).map((member) => ({ ...member, workspace: name })),
    );
    const users = [...Map.groupBy(found.flat(), ({ person }) => person.email)].map(([email, own]) => ({
      ...{ email, name: own[0]?.person.name ?? '' },
      workspaces: own.map(({ workspace: name, role, suspended }) => ({ name, role, suspended })),
    }));
    terminal.json({ users });
    const rows = users.flatMap(({ email, workspaces: own }) =>
      own.map(({ name, role, suspended }) => [
        ...[email, name, role],
        suspended ? terminal.paint('yellow', 'suspended') : terminal.paint('green', 'active'),
      ]),
    );
    terminal.result(
      rows.length === 0
        ? 'There are no people yet. Add one: svc user create EMAIL'
        : table(['EMAIL', 'WORKSPACE', 'ROLE', 'STATE'], rows, terminal.columns),
    );
  }
}
