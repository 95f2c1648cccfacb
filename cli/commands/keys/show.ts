import * as Args from '@oclif/core/args';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fetchKeys, keyNamed } from '../../objects/keys.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { describeKey, keyForPrograms } from '../../output/key.ts';

export default class KeysShow extends SvcCommand {
  static override summary = 'Show one API key: state, roles, expiry and last use. Its text cannot be shown again.';
  static override aliases = ['key:show'];
  static override examples = [
    { description: 'By name', command: '<%= config.bin %> keys show laptop' },
    { description: 'For a script', command: '<%= config.bin %> keys show laptop --json' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    workspace: workspaceFlag('Workspace of the key.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysShow);
    refuseKeyAsArgument([args.name]);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const keys = await fetchKeys(backend, workspace.id);
    const key = keyNamed(keys, args.name);
    terminal.json(keyForPrograms(key));
    terminal.result(describeKey(key, keys, terminal));
    terminal.talk(`What an agent with it can use: svc keys explain ${key.name}`);
  }
}
