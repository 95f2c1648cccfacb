import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { countsIn } from '../../stack/content/archive.ts';
import { sizeText } from '../../stack/machine/size-text.ts';
import { backup } from '../../stack/operations/backup/backup.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { describeContent, notInside } from '../output/backup.ts';
import { newPassphrase } from '../typed/passphrase.ts';

export default class Backup extends SvcCommand {
  static override summary = 'Write all records and files into one archive, while the platform runs.';
  static override description =
    'The archive holds all records and files as they were at one moment, the sessions of agents and the usage to be counted. It is read again before the command ends. Secrets in it stay encrypted with secrets/encryption.key: keep that file elsewhere, or use --with-secrets. svc restore brings the archive back.';
  static override examples = [
    { description: 'Into a file named by the date, in this folder', command: '<%= config.bin %> backup' },
    { description: 'Into another file', command: '<%= config.bin %> backup tools.backup.gz' },
    {
      description: 'With all keys, encrypted with a passphrase',
      command: '<%= config.bin %> backup --with-secrets --passphrase-file passphrase.txt',
    },
  ];
  static override args = {
    file: Args.string({ name: 'FILE', description: 'The archive to write. It must not be there.' }),
  };

  static override flags = {
    'with-secrets': Flags.boolean({
      summary: 'Put the keys of the platform inside too. Asks for a passphrase, and encrypts the archive with it.',
    }),
    'passphrase-file': Flags.string({
      summary: 'A file whose first line is the passphrase, in place of the question.',
      helpValue: 'FILE',
      dependsOn: ['with-secrets'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Backup);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const { name } = readDefinition(installation.definitionFile);
    const isEncrypted = flags['with-secrets'];
    const file = resolve(args.file ?? `${nameFor(name, new Date())}${isEncrypted ? '.age' : ''}`);
    const passphrase = isEncrypted ? await newPassphrase({ file: flags['passphrase-file'], terminal }) : null;
    const onNotice = (message: string) => terminal.talk(message);
    const how = { passphrase, env: environment, onNotice, signal: interruption() };
    const made = await backup({ installation, file, ...how });
    const { head, graph, sizeBytes } = made;
    const { files, usage, sessions } = countsIn(made);
    const { createdAt, encryptionKey, bus } = head;
    terminal.json({
      file,
      sizeBytes,
      createdAt,
      encryptionKey,
      graph,
      files,
      bus,
      usage,
      sessions,
      secrets: isEncrypted,
    });
    terminal.result(`Wrote "${file}" (${sizeText(sizeBytes)}): ${describeContent(made)}.`);
    terminal.talk(notInside(made));
  }
}

function nameFor(name: string, now: Date): string {
  return `svc-${name}-${now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}.backup.gz`;
}
