import * as Args from '@oclif/core/args';
import { z } from 'zod';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { tenancyOf } from '../../platform.ts';

const revoked = z.object({ revokeKey: z.object({ id: z.string(), name: z.string(), hint: z.string() }) });

export default class KeysRevoke extends SvcCommand {
  static override summary = 'Revoke an API key: agents that use it are refused at once.';
  static override aliases = ['key:revoke'];
  static override examples = [
    { description: 'By name', command: '<%= config.bin %> keys revoke laptop' },
    { description: 'By id, in another workspace', command: '<%= config.bin %> keys revoke key_01… --workspace Acme' },
  ];
  static override args = {
    key: Args.string({ description: 'Id, or name of a key that is not revoked', required: true, name: 'ID|NAME' }),
  };
  static override flags = {
    workspace: workspaceFlag('Workspace of the key.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke);
    refuseKeyAsArgument([args.key]);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const answer = await backend.query(
      'mutation ($workspace: ID!, $key: String!) { revokeKey(workspace: $workspace, key: $key) { id name hint } }',
      { workspace: workspace.id, key: args.key },
      revoked.parse,
    );
    terminal.json({ ...answer.revokeKey, state: 'revoked' });
    terminal.result(`Revoked ${answer.revokeKey.name} (${answer.revokeKey.hint}).`);
  }
}
