import * as Args from '@oclif/core/args';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { workspaceInUse } from '../../../stack/state/workspace-in-use.ts';
import { environment, SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';
import { getWorkspace } from '../../objects/workspaces.ts';

export default class WorkspaceUse extends SvcCommand {
  static override summary = 'Choose the workspace of commands without --workspace.';
  static override description = 'The choice is kept in the installation. SVC_WORKSPACE and --workspace override it.';
  static override aliases = ['workspaces:use'];
  static override examples = [
    { description: 'Work in another workspace', command: '<%= config.bin %> workspace use Acme' },
    { description: 'Return to the first one', command: '<%= config.bin %> workspace use Default' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WorkspaceUse);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const { id, name } = await getWorkspace(await connectToBackend(installation), args.name);
    workspaceInUse.write(installation, { name });
    terminal.json({ id, name });
    terminal.result(`Commands work in the workspace ${name} now.`);
    const { SVC_WORKSPACE: variable = '' } = environment;
    if (variable !== '' && variable !== name)
      terminal.warn(`SVC_WORKSPACE names "${variable}" here, which overrides it.`);
  }
}
