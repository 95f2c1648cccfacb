import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { restore } from '../../stack/operations/backup/restore.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { nextCommand } from '../next-command.ts';
import { describeContent } from '../output/backup.ts';
import { installationOf } from '../platform.ts';

export default class Restore extends SvcCommand {
  static override summary = 'Fill an installation that has no data with what svc backup wrote.';
  static override description =
    'Checks all of the archive before anything is changed. Where it comes from another installation, its secrets need the key of that one.';
  static override examples = [
    {
      description: 'Into an empty installation with the same secrets/encryption.key',
      command: '<%= config.bin %> restore tools.backup.gz',
    },
    {
      description: 'On another machine',
      command: '<%= config.bin %> restore tools.backup.gz --encryption-key-file old/secrets/encryption.key',
    },
  ];
  static override args = {
    file: Args.string({ name: 'FILE', description: 'The archive.', required: true }),
  };
  static override flags = {
    'encryption-key-file': Flags.string({
      summary: 'secrets/encryption.key of the platform that was backed up; it becomes the key of this installation.',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore);
    const terminal = this.terminal(flags);
    const key = flags['encryption-key-file'];
    const installation = installationOf(flags);
    const restored = await restore({
      installation,
      file: resolve(args.file),
      encryptionKeyFile: key === undefined ? null : resolve(key),
      env: environment,
      onNotice: (message) => terminal.talk(message),
      signal: interruption(),
    });
    const { head, graph, files, usage, sessions } = restored;
    terminal.json({ state: 'restored', createdAt: head.createdAt, graph, files, bus: head.bus, usage, sessions });
    terminal.result(`Restored what was backed up at ${head.createdAt}: ${describeContent(restored)}.`);
    terminal.talk(`Next: ${nextCommand('up', { installation, env: environment, cwd: process.cwd() })}`);
  }
}
