import { fstatSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { toSvcError } from '../../../services/contracts/errors.ts';
import {
  dockerCommand,
  envText,
  type HandOver,
  handOver,
  type PastedBlock,
  pastedBlock,
  startAgain,
  systemdUnit,
  warningAbout,
  wordOf,
} from '../../../services/contracts/runtime-hand-over.ts';
import { registerRuntimeMutation } from '../../../stack/client/generated/operations.ts';
import { ownVersion } from '../../../stack/machine/version.ts';
import { readDefinition } from '../../../stack/settings/check.ts';
import { writeDurably } from '../../../stack/state/durable-file.ts';
import { fileFailure } from '../../../stack/state/file-failure.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { installationOf, tenancyOf } from '../../objects/platform.ts';
import type { Terminal } from '../../output/terminal.ts';
import { isoOrNull } from '../../output/times-and-sizes.ts';
import { authorityOf, noBusYet, requireBusForOthers } from '../../runtime-elsewhere/bus-for-others.ts';
import { checkPrivateFile, exposure } from '../../runtime-elsewhere/private-file.ts';

export default class RuntimeRegister extends SvcCommand {
  static override summary = 'Register a runtime for another machine. Its key is shown once.';
  static override description =
    'Prints one block to paste into a shell of the other machine, which needs Node 24: it writes the key to a file there and starts the runtime. Registering a name again creates a new key. The previous key stays valid for a day.';
  static override aliases = ['runtimes:register'];
  static override examples = [
    { description: 'Register one and print what to paste there', command: '<%= config.bin %> runtime register edge' },
    {
      description: 'Write the variables to a file that only you can read',
      command: '<%= config.bin %> runtime register edge --out edge.env',
    },
  ];
  static override args = { name: Args.string({ description: 'Name of the runtime', required: true, name: 'NAME' }) };
  static override flags = {
    out: Flags.string({ summary: 'File for the variables, made with mode 0600.', helpValue: 'FILE' }),
    overwrite: Flags.boolean({ summary: 'Overwrite the file of --out if it exists.' }),
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RuntimeRegister);
    const terminal = this.terminal(flags);
    const out = flags.out === undefined ? null : resolve(flags.out);
    const installation = installationOf(flags);
    const definition = readDefinition(installation.definitionFile);
    requireBusForOthers(definition);
    if (out !== null) checkPrivateFile('--out', out, flags.overwrite);
    const authority = authorityOf(installation, definition);
    const { backend, workspace } = await tenancyOf(flags);
    const answer = await backend.send(registerRuntimeMutation, { workspace: workspace.id, name: args.name });
    const { runtime, secret: key, busServers, overlapEndsAt } = answer.registerRuntime;
    if (busServers.length === 0) throw noBusYet();
    const { name } = runtime;
    const given = handOver({ name, key, busServers, authority }, out === null ? null : basename(out));
    const unit = systemdUnit(name, given);
    const version = ownVersion();
    const docker = dockerCommand(name, given, { version, image: definition.images.base });
    const isWritten = out === null ? false : write(out, envText(name, given), given, terminal);
    const pasted = { given, name, version, isWritten };
    terminal.json({
      ...{ id: runtime.id, name, key, prefix: 'RTK_', env: given.env, command: given.command },
      ...{ workspace, file: isWritten ? out : null, authority: given.authority, systemd: unit },
      ...{ shell: pastedBlock(pasted), docker, overlapEndsAt: isoOrNull(overlapEndsAt) },
    });
    terminal.talk(`${whatToDo(pasted)}\n`);
    terminal.result(pastedBlock(pasted));
    if (!isWritten) warnOfReaders(terminal);
    tellMore({ pasted, docker, unit, overlapEndsAt }, terminal);
    const warning = warningAbout(busServers);
    if (warning !== null) terminal.warn(warning);
  }
}

/** Returns false after a failed write. The command then prints the key, because it exists only in this answer. */
function write(out: string, text: string, { authority }: HandOver, terminal: Terminal): boolean {
  try {
    writeDurably(out, text);
    if (authority !== null) writeFileSync(join(dirname(out), authority.file), authority.pem);
  } catch (error) {
    const { message } = fileFailure(error) ?? toSvcError(error);
    terminal.complain(`${terminal.paint('red', 'Error:')} ${message} The key is shown here instead.`);
    process.exitCode = 1;
    return false;
  }
  terminal.result(`Wrote ${out}${authority === null ? '' : `, and ${authority.file} beside it`}.`);
  const seen = exposure(out, statSync(out));
  if (seen !== null) terminal.complain(`${terminal.paint('yellow', '!')} ${seen}`);
  return true;
}

function whatToDo({ given: { authority, envFile }, isWritten }: PastedBlock): string {
  if (!isWritten) {
    return 'Paste this into a shell of the other machine, which needs Node 24. The key is shown only once.';
  }
  const files = authority === null ? envFile : `${envFile} and ${authority.file}`;
  return `Copy ${files} into a folder of the other machine, which needs Node 24. Run there, in that folder:`;
}

/** The standard output may be a file with the key. */
function warnOfReaders(terminal: Terminal): void {
  const seen = exposure(process.stdout.fd, fstatSync(process.stdout.fd));
  if (seen !== null) terminal.complain(`${terminal.paint('yellow', '!')} ${seen}`);
}

interface More {
  readonly pasted: PastedBlock;
  readonly docker: string;
  readonly unit: string;
  readonly overlapEndsAt: number | null;
}

function tellMore({ pasted, docker, unit, overlapEndsAt }: More, terminal: Terminal): void {
  const { given, name, version, isWritten } = pasted;
  if (!isWritten) terminal.talk(`\nTo start it again there:\n  ${startAgain(pasted)}`);
  if (overlapEndsAt !== null) {
    terminal.talk(
      `\nIts previous key stays valid until ${isoOrNull(overlapEndsAt)}. Then a runtime that uses it is disconnected.`,
    );
  }
  const files = given.authority === null ? given.envFile : `${given.envFile} and ${given.authority.file}`;
  terminal.talk(`\nOr in a container, in the folder with ${files}:\n  ${docker.replaceAll('\n', '\n  ')}`);
  const service = `svc-runtime-${wordOf(name)}.service`;
  terminal.talk(
    `\nOr with systemd, put ${files} into /etc/svc, the unit below into /etc/systemd/system/${service}, and run:`,
  );
  terminal.talk(`  npm install --global svc-platform@${version}\n  systemctl enable --now ${service}\n\n${unit}`);
}
