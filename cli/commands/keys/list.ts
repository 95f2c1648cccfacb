import { SvcCommand, workspaceFlag } from '../../command.ts';
import { fetchKeys } from '../../objects/keys.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { describeKeys, keyForPrograms } from '../../output/key.ts';

export default class KeysList extends SvcCommand {
  static override summary = 'List the API keys of a workspace.';
  static override aliases = ['key:list'];
  static override examples = [
    { description: 'All keys', command: '<%= config.bin %> keys list' },
    { description: 'For a script', command: '<%= config.bin %> keys list --json' },
  ];
  static override flags = {
    workspace: workspaceFlag('Workspace to look at.'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysList);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const keys = await fetchKeys(backend, workspace.id);
    terminal.json({ keys: keys.map(keyForPrograms) });
    terminal.result(
      keys.length === 0 ? 'There are no keys yet. Create one: svc keys create NAME' : describeKeys(keys, terminal),
    );
  }
}
