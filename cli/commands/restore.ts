import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { countsIn } from '../../stack/content/archive.ts';
import { isEncrypted } from '../../stack/content/encrypt-archive.ts';
import { sizeText } from '../../stack/machine/size-text.ts';
import { restore } from '../../stack/operations/backup/restore.ts';
import { confirmReplacement, undoReplacement } from '../../stack/operations/replace/end-replacement.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { makeSure, requireName } from '../consent.ts';
import { installationOf } from '../objects/platform.ts';
import { describeContent, describeRestore } from '../output/backup.ts';
import { describeLoss, tellProgress } from '../output/move.ts';
import { openProgressList, type ProgressList } from '../output/progress-list.ts';
import type { Terminal } from '../output/terminal.ts';
import { nextCommand } from '../start/next-command.ts';
import { passphraseOf } from '../typed/passphrase.ts';

interface Restoring {
  readonly installation: Installation;
  readonly terminal: Terminal;
  readonly file: string;
  readonly key: string | undefined;
  readonly passphraseFile: string | undefined;
  readonly over: string | undefined;
}

export default class Restore extends SvcCommand {
  static override summary = 'Fill an installation from an archive of svc backup.';
  static override description =
    'Checks all of the archive before anything is changed. An archive of another installation needs the key of that one; an archive made with --with-secrets contains it. Existing data is replaced after the name of the installation is typed, and kept until --confirm removes it or --undo goes back to it.';
  static override examples = [
    {
      description: 'Into an installation with the same secrets/encryption.key',
      command: '<%= config.bin %> restore tools.backup.gz',
    },
    {
      description: 'On another machine',
      command: '<%= config.bin %> restore tools.backup.gz --encryption-key-file old/secrets/encryption.key',
    },
    {
      description: 'Over the data of the installation "tools", from a script',
      command: '<%= config.bin %> restore tools.backup.gz --over tools',
    },
    { description: 'Remove the data before, once all is well', command: '<%= config.bin %> restore --confirm' },
    { description: 'Go back to the data before', command: '<%= config.bin %> restore --undo' },
  ];
  static override args = {
    file: Args.string({ name: 'FILE', description: 'The archive.' }),
  };
  static override flags = {
    'encryption-key-file': Flags.string({
      summary: 'secrets/encryption.key of the platform that was backed up; it becomes the key of this installation.',
      helpValue: 'FILE',
    }),
    over: Flags.string({
      summary: 'Replace the data of the installation of this name without asking.',
      helpValue: 'NAME',
    }),
    confirm: Flags.boolean({ summary: 'Remove the data before the restore that was kept.' }),
    undo: Flags.boolean({ summary: 'Go back to the data before the restore.' }),
    yes: Flags.boolean({ char: 'y', summary: 'With --undo: do it without asking.' }),
    'passphrase-file': Flags.string({
      summary: 'A file whose first line is the passphrase of an encrypted archive, in place of the question.',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore);
    const wanted = [args.file !== undefined, flags.confirm, flags.undo].filter(Boolean);
    if (wanted.length !== 1) {
      throw new SvcError('invalid_input', 'svc restore needs one of FILE, --confirm and --undo.', {
        hint: 'Such as: svc restore tools.backup.gz',
      });
    }
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    if (flags.confirm) return await confirm(installation, terminal);
    if (flags.undo) return await undo(installation, terminal, flags.yes);
    const key = flags['encryption-key-file'];
    await restoreFile({
      installation,
      terminal,
      file: resolve(args.file ?? ''),
      key,
      passphraseFile: flags['passphrase-file'],
      over: flags.over,
    });
  }
}

async function restoreFile({ installation, terminal, file, key, passphraseFile, over }: Restoring): Promise<void> {
  const passphrase = isEncrypted(file) ? await passphraseOf({ file: passphraseFile, terminal }) : null;
  const list = openProgressList(terminal);
  const { content, kept, downMs } = await restore({
    installation,
    file,
    passphrase,
    encryptionKeyFile: key === undefined ? null : resolve(key),
    confirm: async (plan) => {
      terminal.talk(describeRestore(plan));
      await requireName(terminal, { name: plan.name, typed: over, flag: '--over', declined: 'Nothing was changed.' });
    },
    env: environment,
    onProgress: tellIn(list),
    signal: interruption(),
  }).finally(() => list.end());
  const { createdAt, bus } = content.head;
  const { files, usage, sessions } = countsIn(content);
  terminal.json({ state: 'restored', createdAt, graph: content.graph, files, bus, usage, sessions, kept });
  terminal.result(`Restored the backup of ${createdAt}: ${describeContent(content)}.`);
  if (kept !== null) {
    terminal.talk(
      `The data before is in ${kept}: svc restore --confirm removes it, svc restore --undo goes back to it.`,
    );
  }
  if (downMs === null) {
    terminal.talk(`Next: ${nextCommand('up', { installation, env: environment, cwd: process.cwd() })}`);
  }
}

async function confirm(installation: Installation, terminal: Terminal): Promise<void> {
  const list = openProgressList(terminal);
  const { kept } = await confirmReplacement(endOptions(installation, list), (restored, bytes) => {
    terminal.talk(`Removes ${restored.kept} (${sizeText(bytes)}): the data of ${restored.startedAt}.`);
  }).finally(() => list.end());
  terminal.json({ state: 'confirmed', kept });
  terminal.result(`Confirmed: ${kept} is removed.`);
}

async function undo(installation: Installation, terminal: Terminal, yes: boolean): Promise<void> {
  const list = openProgressList(terminal);
  const options = { ...endOptions(installation, list), signal: interruption() };
  const { kept } = await undoReplacement(options, (loss) =>
    makeSure(terminal, {
      ...{ yes, what: describeLoss(loss), question: 'Go back to the data before the restore?' },
      declined: 'It stays.',
    }),
  ).finally(() => list.end());
  terminal.json({ state: 'undone', kept });
  terminal.result('Undone: the platform has its data from before the restore again.');
}

function endOptions(installation: Installation, list: ProgressList) {
  return { installation, command: 'restore', env: environment, onProgress: tellIn(list) } as const;
}

function tellIn(list: ProgressList) {
  return (progress: Parameters<typeof tellProgress>[0]) => tellProgress(progress, list);
}
