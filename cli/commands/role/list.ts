import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRoles } from '../../objects/roles.ts';
import { table } from '../../output/table.ts';

export default class RoleList extends SvcCommand {
  static override summary = 'List roles and their skills.';
  static override aliases = ['roles:list'];
  static override examples = [
    { description: 'All roles', command: '<%= config.bin %> role list' },
    { description: 'For a script', command: '<%= config.bin %> role list --json' },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(RoleList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const roles = await fetchRoles(backend, workspace.id);
    terminal.json({ roles: roles.map(({ id, name, enabled, skills }) => ({ id, name, active: enabled, skills })) });
    const rows = roles.map((role) => [
      role.name,
      role.enabled ? terminal.paint('green', 'enabled') : terminal.paint('grey', 'disabled'),
      role.skills.map((skill) => skill.name).join(', '),
    ]);
    terminal.result(
      rows.length === 0
        ? 'There are no roles yet. Create one: svc role create NAME --skill SKILL'
        : table(['NAME', 'STATE', 'SKILLS'], rows, terminal.columns),
    );
  }
}
