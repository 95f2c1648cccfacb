import * as Args from '@oclif/core/args';
import { removeMcpServerMutation, skillsOfMcpServerQuery } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { agreeToRemoval } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getServer } from '../../objects/servers.ts';

export default class ServerRemove extends SvcCommand {
  static override summary = 'Remove an MCP server. It stops, and skills lose its tools.';
  static override description = 'If skills lose tools, the command names them and asks.';
  static override aliases = ['servers:remove'];
  static override examples = [
    { description: 'Remove one', command: '<%= config.bin %> server remove files' },
    {
      description: 'In another workspace, from a script',
      command: '<%= config.bin %> server remove files --workspace Acme --yes',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    yes: yesFlag,
    workspace: workspaceFlag('Workspace of the MCP server.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerRemove);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const { id, name, version } = await getServer(backend, workspace.id, args.name);
    const found = await backend.send(skillsOfMcpServerQuery, { workspace: workspace.id, id });
    const skills = found.workspace?.mcpServer?.skills ?? [];
    await agreeToRemoval(terminal, {
      subject: `the MCP server "${name}"`,
      affected: skills.map((skill) => `The skill "${skill.name}" loses its tools.`),
      yes: flags.yes,
    });
    await backend.send(removeMcpServerMutation, {
      ...{ workspace: workspace.id, id, ifVersion: version },
      ifUsedBy: skills.map((skill) => skill.id),
    });
    terminal.json({ id, name, removed: true, affected: skills.map((skill) => ({ kind: 'skill', ...skill })) });
    terminal.result(`Removed MCP server ${name}.`);
  }
}
