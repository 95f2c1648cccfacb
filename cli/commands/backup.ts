import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import { sizeText } from '../../stack/machine/size-text.ts';
import { backup } from '../../stack/operations/backup/backup.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { describeContent, notInside } from '../output/backup.ts';
import { installationOf } from '../platform.ts';

export default class Backup extends SvcCommand {
  static override summary = 'Write all records and files into one archive, while the platform runs.';
  static override description =
    'The archive holds all records and files as they were at one moment, with the sessions of agents and the usage to be counted, and is read again before the command ends. Secrets in it stay encrypted with secrets/encryption.key, which is not inside: keep that file elsewhere. svc restore brings the archive back.';
  static override examples = [
    { description: 'Into a file named by the date, in this folder', command: '<%= config.bin %> backup' },
    { description: 'Into another file', command: '<%= config.bin %> backup /backups/tools.backup.gz' },
  ];
  static override args = {
    file: Args.string({ name: 'FILE', description: 'The archive to write. It must not be there.' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Backup);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const { name } = readDefinition(installation.definitionFile);
    const file = resolve(args.file ?? nameFor(name, new Date()));
    const { version } = this.config;
    const onNotice = (message: string) => terminal.talk(message);
    const made = await backup({ installation, file, version, env: environment, onNotice, signal: interruption() });
    const { head, graph, files, usage, sessions, sizeBytes } = made;
    const { createdAt, encryptionKey, bus } = head;
    terminal.json({ file, sizeBytes, createdAt, encryptionKey, graph, files, bus, usage, sessions });
    terminal.result(`Wrote "${file}" (${sizeText(sizeBytes)}): ${describeContent(made)}.`);
    terminal.talk(notInside(head));
  }
}

function nameFor(name: string, now: Date): string {
  return `svc-${name}-${now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}.backup.gz`;
}
