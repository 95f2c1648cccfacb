import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { apply } from '../../stack/apply/apply.ts';
import { connectToBackend } from '../../stack/backend-client.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../platform.ts';

const signs = { create: '+', update: '~', delete: '-', none: ' ' } as const;
const colours = { create: 'green', update: 'yellow', delete: 'red', none: 'grey' } as const;
const kinds = { mcpServer: 'MCP server', skill: 'skill', role: 'role' } as const;

export default class Apply extends SvcCommand {
  static override summary = 'Make MCP servers, skills and roles be as files say.';
  static override description = 'Applying the same files again changes nothing.';
  static override examples = [
    { description: 'Apply a file', command: '<%= config.bin %> apply platform.yaml' },
    { description: 'Only show what would change', command: '<%= config.bin %> apply platform.yaml --dry-run' },
  ];
  static override strict = false;
  static override args = { file: Args.string({ description: 'YAML files', required: true, name: 'FILE' }) };
  static override flags = { 'dry-run': Flags.boolean({ summary: 'Show what would change, and change nothing.' }) };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Apply);
    const terminal = this.terminal(flags);
    if (argv.length === 0)
      throw new SvcError('invalid_input', 'Name at least one file.', { hint: 'svc apply platform.yaml' });
    const backend = await connectToBackend(installationOf(flags));
    const changes = await apply({
      backend,
      files: argv.map((file) => resolve(String(file))),
      env: environment,
      dryRun: flags['dry-run'],
      signal: interruption(),
    });
    terminal.json({ changes });
    const made = changes.filter((change) => change.action !== 'none');
    for (const change of made) {
      const sign = terminal.paint(colours[change.action], signs[change.action]);
      const fields = change.action === 'update' && change.fields.length > 0 ? ` (${change.fields.join(', ')})` : '';
      terminal.result(`${sign} ${kinds[change.kind]} ${change.name}${fields}`);
    }
    const same = changes.length - made.length;
    const kept = same === 0 ? '' : ` ${same} stay as they are.`;
    terminal.result(
      made.length === 0
        ? `Nothing changes: all ${same} are as the files say.`
        : `${made.length} ${flags['dry-run'] ? 'would change' : 'changed'}.${kept}`,
    );
  }
}
