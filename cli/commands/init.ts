import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { createInstallation } from '../../stack/create-installation.ts';
import { readDefinition } from '../../stack/definition/check.ts';
import { findInstallation, folderForNew } from '../../stack/installation.ts';
import { environment, SvcCommand } from '../command.ts';
import { nextCommand } from '../next-command.ts';

export default class Init extends SvcCommand {
  static override summary = 'Make an installation: svc.yaml, secrets and folders.';
  static override description =
    'Writes every choice to svc.yaml and generates what is missing. Running it again changes nothing that exists.';
  static override examples = [
    { description: 'Make an installation in ./svc with the defaults', command: '<%= config.bin %> init --yes' },
    {
      description: 'Make one elsewhere, for another owner',
      command: '<%= config.bin %> init /srv/tools --owner-email ops@example.com --yes',
    },
  ];
  static override args = {
    dir: Args.string({ description: 'Folder of the installation; default ./svc', name: 'DIR' }),
  };
  static override flags = {
    yes: Flags.boolean({ char: 'y', summary: 'Take the default where nothing is said.' }),
    'owner-email': Flags.string({ summary: 'E-mail address of the owner of the first workspace.', helpValue: 'EMAIL' }),
    topology: Flags.string({
      summary: 'How services run; this version knows embedded, which is one process.',
      helpValue: 'embedded',
      default: 'embedded',
    }),
    engine: Flags.string({
      summary: 'What runs them; this version knows process, on this machine.',
      helpValue: 'process',
      default: 'process',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init);
    const terminal = this.terminal(flags);
    refuseUnbuilt(flags.topology, flags.engine);
    const dir =
      args.dir === undefined
        ? folderForNew({ dir: flags.dir, env: environment, cwd: process.cwd() })
        : resolve(args.dir);
    const exists = findInstallation({ dir, env: {}, cwd: process.cwd() }) !== null;
    let ownerEmail = flags['owner-email'];
    if (!exists && ownerEmail === undefined && !flags.yes && terminal.interactive) {
      const { input } = await import('@inquirer/prompts');
      ownerEmail = await input(
        { message: 'E-mail address of the owner', default: 'owner@localhost' },
        { output: process.stderr },
      );
    }
    const created = await createInstallation({ dir, ...(ownerEmail === undefined ? {} : { ownerEmail }) });
    for (const step of created.steps) {
      if (step.outcome === 'repaired')
        terminal.talk(`${terminal.paint('yellow', 'repaired')} ${step.path}${step.detail ? `: ${step.detail}` : ''}`);
    }
    const { owner } = readDefinition(created.installation.definitionFile);
    if (ownerEmail !== undefined && ownerEmail !== owner.email) {
      terminal.talk(
        `${terminal.paint('yellow', '!')} The owner stays ${owner.email}, as svc.yaml says: what exists is never changed. Until the first svc up, owner.email can be changed there.`,
      );
    }
    const made = created.steps.filter((step) => step.outcome === 'created');
    terminal.json({ dir: created.installation.dir, owner: { email: owner.email }, steps: created.steps });
    terminal.result(
      made.length === 0
        ? `Nothing to do: ${created.installation.dir} is an installation already.`
        : `${terminal.paint('green', 'Created')} ${created.installation.dir} (${made.map((step) => step.path).join(', ')}).`,
    );
    terminal.talk(`Next: ${nextCommand('up', { ...created, env: environment, cwd: process.cwd() })}`);
  }
}

function refuseUnbuilt(topology: string, engine: string): void {
  if (!['embedded', 'distributed'].includes(topology)) {
    throw new SvcError('invalid_input', `--topology must be embedded or distributed, not "${topology}".`);
  }
  if (!['process', 'docker'].includes(engine)) {
    throw new SvcError('invalid_input', `--engine must be process or docker, not "${engine}".`);
  }
  const wanted =
    topology === 'distributed' ? 'The distributed topology' : engine === 'docker' ? 'The docker engine' : null;
  if (wanted !== null) {
    throw new SvcError('unsupported', `${wanted} is not part of this version.`, {
      hint: 'The embedded topology runs everything in one process: svc init --topology embedded --engine process',
    });
  }
}
