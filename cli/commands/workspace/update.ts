import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { updateWorkspaceMutation } from '../../../stack/client/generated/operations.ts';
import { workspaceInUse } from '../../../stack/state/workspace-in-use.ts';
import { SvcCommand } from '../../command.ts';
import { fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { installationOf } from '../../objects/platform.ts';
import { getWorkspace } from '../../objects/workspaces.ts';

export default class WorkspaceUpdate extends SvcCommand {
  static override summary = 'Rename a workspace, or close it to members and agents for a while.';
  static override aliases = ['workspaces:update'];
  static override examples = [
    { description: 'Rename it', command: '<%= config.bin %> workspace update Acme --name "Acme Europe"' },
    { description: 'Refuse its members and agents', command: '<%= config.bin %> workspace update Acme --suspend' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    name: Flags.string({ summary: 'New name.', helpValue: 'NAME' }),
    suspend: Flags.boolean({ summary: 'Close it to its members and agents.', exclusive: ['resume'] }),
    resume: Flags.boolean({ summary: 'Open it again.' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WorkspaceUpdate);
    const terminal = this.terminal(flags);
    const { name, suspend, resume } = flags;
    requireChange({ name, suspend, resume });
    const installation = installationOf(flags);
    const backend = await connectToBackend(installation);
    const workspace = await getWorkspace(backend, args.name);
    const suspended = suspend ? true : resume ? false : undefined;
    const changed = fieldsThatDiffer({ ...workspace }, { name: name?.trim(), suspended });
    if (changed.length > 0) {
      await backend.send(updateWorkspaceMutation, {
        id: workspace.id,
        input: { name, suspended, ifName: workspace.name, ifSuspended: workspace.suspended },
      });
      const isInUse = workspaceInUse.read(installation)?.name === workspace.name;
      if (name !== undefined && isInUse) workspaceInUse.write(installation, { name: name.trim() });
    }
    tellChanged(terminal, { kind: 'workspace', id: workspace.id, name: name ?? workspace.name, changed });
  }
}
