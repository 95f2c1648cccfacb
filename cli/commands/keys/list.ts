import { everyPage } from '../../../stack/client/every-page.ts';
import { keysQuery } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { spare, table } from '../../output/table.ts';
import { ago, isoOrNull } from '../../output/times-and-sizes.ts';
import { tenancyOf } from '../../platform.ts';

const words = { valid: 'valid', expired: 'Expired', revoked: 'revoked' } as const;
const colours = { valid: 'green', expired: 'red', revoked: 'grey' } as const;

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
    const keys = await everyPage(
      async (page) => (await backend.send(keysQuery, { workspace: workspace.id, ...page })).workspace?.keys,
    );
    terminal.json({
      keys: keys.map((one) => ({ ...one, expiresAt: isoOrNull(one.expiresAt), lastUsedAt: isoOrNull(one.lastUsedAt) })),
    });
    const rows = keys.map((one) => [
      one.name,
      one.hint,
      terminal.paint(colours[one.state], words[one.state]),
      isoOrNull(one.expiresAt) ?? 'never',
      ago(one.lastUsedAt),
      one.id,
    ]);
    terminal.result(
      rows.length === 0
        ? 'There are no keys yet. Create one: svc keys create --name NAME'
        : table(['NAME', 'KEY', 'STATE', 'EXPIRES', spare('LAST USED'), spare('ID')], rows, terminal.columns),
    );
  }
}
