import * as Args from '@oclif/core/args';
import { revokeKeyMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fetchKeys, findHolder } from '../../objects/keys.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { ago, isoOrNull } from '../../output/times-and-sizes.ts';

export default class KeysRevoke extends SvcCommand {
  static override summary = 'Revoke an API key. Agents that use it are refused at once.';
  static override aliases = ['key:revoke'];
  static override examples = [
    { description: 'By name', command: '<%= config.bin %> keys revoke laptop' },
    { description: 'By id, in another workspace', command: '<%= config.bin %> keys revoke laptop --workspace Acme' },
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
    const keys = await fetchKeys(backend, workspace.id);
    const before = keys.find(({ id }) => id === args.key) ?? findHolder(keys, args.key);
    const { revokeKey } = await backend.send(revokeKeyMutation, {
      workspace: workspace.id,
      ...(before === null ? { key: args.key } : { key: before.id, ifVersion: before.version }),
    });
    const { lastUsedAt, ...revoked } = revokeKey;
    const older = keys.find(({ id }) => id === revoked.id)?.replaces ?? null;
    terminal.json({ ...revoked, state: 'revoked', lastUsedAt: isoOrNull(lastUsedAt) });
    terminal.result(`Revoked ${revoked.name} (${revoked.hint}). It was last used: ${ago(lastUsedAt)}.`);
    if (older !== null) {
      terminal.warn(`The key that it replaced is still valid (${older.hint}). End it too: svc keys revoke ${older.id}`);
    }
  }
}
