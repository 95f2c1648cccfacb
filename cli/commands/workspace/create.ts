import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { createWorkspaceMutation } from '../../../stack/client/generated/operations.ts';
import { readDefinition } from '../../../stack/settings/check.ts';
import { SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';

export default class WorkspaceCreate extends SvcCommand {
  static override summary = 'Create a workspace. Nothing in it is visible in another one.';
  static override aliases = ['workspaces:create'];
  static override examples = [
    {
      description: 'Create one, and use it',
      command: '<%= config.bin %> workspace create Acme && <%= config.bin %> workspace use Acme',
    },
    {
      description: 'With an owner',
      command: '<%= config.bin %> workspace create Acme --owner-email ann@acme.example',
    },
  ];
  static override args = { name: Args.string({ description: 'Name of the workspace', required: true, name: 'NAME' }) };
  static override flags = {
    'owner-email': Flags.string({
      summary: 'E-mail address of its owner. Default: the owner of the installation.',
      helpValue: 'EMAIL',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WorkspaceCreate);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const backend = await connectToBackend(installation);
    const ownerEmail = flags['owner-email'] ?? readDefinition(installation.definitionFile).owner.email;
    const { createWorkspace } = await backend.send(createWorkspaceMutation, { input: { name: args.name, ownerEmail } });
    const { id, name } = createWorkspace;
    terminal.json({ id, name, owner: ownerEmail });
    terminal.result(`Created workspace ${name}, owned by ${ownerEmail}.`);
    terminal.talk(`Next, let commands work in it: svc workspace use ${shellWord(name)}`);
  }
}
