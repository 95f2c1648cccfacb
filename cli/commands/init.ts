import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { createInstallation, type NewInstallation } from '../../stack/operations/create-installation.ts';
import { refuseForeignFolder } from '../../stack/place/refuse-foreign-folder.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { engines, engineTraits, graphs, type Topology, topologies } from '../../stack/settings/choices.ts';
import { findInstallation, folderForNew, installationIn } from '../../stack/state/installation.ts';
import { environment, SvcCommand } from '../command.ts';
import { type Chosen, choice, refuseMismatch } from '../how-it-runs.ts';
import { nextCommand } from '../next-command.ts';
import { typedFor } from '../platform.ts';

export default class Init extends SvcCommand {
  static override summary = 'Create an installation: svc.yaml, secrets and folders.';
  static override description =
    'Writes every setting to svc.yaml and creates missing files. It never changes an existing file.';
  static override examples = [
    { description: 'Create one in ./svc with the defaults', command: '<%= config.bin %> init --yes' },
    {
      description: 'Create one elsewhere, for another owner',
      command: '<%= config.bin %> init /srv/tools --owner-email ops@example.com --yes',
    },
    {
      description: 'Run each service as a process',
      command: '<%= config.bin %> init --topology distributed --graph sqlite --engine process',
    },
    {
      description: 'Run each service as a container',
      command: '<%= config.bin %> init --topology distributed --graph sqlite --engine docker',
    },
  ];
  static override args = {
    dir: Args.string({ description: 'Folder of the installation; default ./svc', name: 'DIR' }),
  };
  static override flags = {
    yes: Flags.boolean({ char: 'y', summary: 'Take the default for every setting that is not given.' }),
    'owner-email': Flags.string({ summary: 'E-mail address of the owner of the first workspace.', helpValue: 'EMAIL' }),
    topology: Flags.string({
      summary: 'embedded: one process runs everything. distributed: one process for each service, connected by NATS.',
      helpValue: topologies.join('|'),
    }),
    graph: Flags.string({
      summary: 'Graph engine. sqlite: one file. dgraph: a cluster, only with --topology distributed.',
      helpValue: graphs.join('|'),
    }),
    engine: Flags.string({
      summary: 'What runs the services: process, on this machine, or docker, in containers.',
      helpValue: engines.join('|'),
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init);
    const terminal = this.terminal(flags);
    const chosen = {
      topology: choice('--topology', flags.topology, topologies),
      graph: choice('--graph', flags.graph, graphs),
      engine: choice('--engine', flags.engine, engines),
    };
    const dir =
      args.dir === undefined
        ? folderForNew({ dir: flags.dir, env: environment, cwd: process.cwd() })
        : resolve(args.dir);
    const wanted = installationIn(dir);
    refuseForeignFolder(wanted, typedFor(wanted));
    const exists = findInstallation({ dir, env: {}, cwd: process.cwd() }) !== null;
    const asks = !exists && !flags.yes && terminal.interactive;
    const ownerEmail = flags['owner-email'] ?? (asks ? await askOwner() : undefined);
    // With an engine that needs the topology distributed, there is no question.
    const needed = engineTraits[chosen.engine ?? 'process'].needsDistributed ? 'distributed' : undefined;
    const topology = chosen.topology ?? needed ?? (asks ? await askTopology() : undefined);
    refuseMismatch({ ...chosen, topology });
    const created = await createInstallation({
      dir,
      ...(ownerEmail === undefined ? {} : { ownerEmail }),
      ...given({ ...chosen, topology }),
    });
    for (const step of created.steps) {
      if (step.outcome === 'repaired')
        terminal.talk(`${terminal.paint('yellow', 'repaired')} ${step.path}${step.detail ? `: ${step.detail}` : ''}`);
    }
    const definition = readDefinition(created.installation.definitionFile);
    const { owner } = definition;
    if (ownerEmail !== undefined && ownerEmail !== owner.email) {
      terminal.warn(
        `The owner stays ${owner.email}, because svc.yaml exists already. You can change owner.email there until the first svc up.`,
      );
    }
    if ((chosen.engine ?? definition.engine) !== definition.engine) {
      terminal.warn(`engine stays ${definition.engine}, because svc.yaml exists already.`);
    }
    for (const field of ['topology', 'graph'] as const) {
      if ((chosen[field] ?? definition[field]) === definition[field]) continue;
      const { topology, graph } = { ...definition, ...given(chosen) };
      terminal.warn(
        `${field} stays ${definition[field]}, because svc.yaml exists already. To move the installation: svc move --to ${topology} --graph ${graph}`,
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

async function askOwner(): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return input({ message: 'E-mail address of the owner', default: 'owner@localhost' }, { output: process.stderr });
}

async function askTopology(): Promise<Topology> {
  const { select } = await import('@inquirer/prompts');
  const choices = [
    { value: 'embedded', name: 'embedded: one process runs everything' },
    { value: 'distributed', name: 'distributed: one process for each service, connected by NATS' },
  ] as const;
  return select<Topology>({ message: 'How it runs', choices, default: 'embedded' }, { output: process.stderr });
}

function given(chosen: Chosen): Pick<NewInstallation, 'topology' | 'graph' | 'engine'> {
  const { topology, graph, engine } = chosen;
  return {
    ...(topology === undefined ? {} : { topology }),
    ...(graph === undefined ? {} : { graph }),
    ...(engine === undefined ? {} : { engine }),
  };
}
