import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { status } from '../../stack/operations/status.ts';
import { refuseForeignFolder } from '../../stack/place/refuse-foreign-folder.ts';
import { engines, engineTraits, graphs, topologies } from '../../stack/settings/choices.ts';
import { findInstallation, folderForNew, installationIn } from '../../stack/state/installation.ts';
import { AlreadyReported, environment, repeatedFlag, SvcCommand } from '../command.ts';
import { here } from '../connect/here.ts';
import { ReferenceValues } from '../import/ask-values.ts';
import { describeImported, importedForm } from '../import/carry-out.ts';
import { agreeToMake, askMissing, type Given } from '../init/answers.ts';
import { bringIn, start } from '../init/bring-in.ts';
import { create } from '../init/create.ts';
import { serversNamed } from '../init/found-servers.ts';
import { describePlan } from '../init/summary.ts';
import { tenancyOf, typedFor } from '../objects/platform.ts';
import { nextCommand } from '../start/next-command.ts';
import { nextStep } from '../start/next-step.ts';
import { choice, refuseMismatch } from '../typed/how-it-runs.ts';

export default class Init extends SvcCommand {
  static override summary = 'Create an installation: svc.yaml, secrets and folders.';
  static override description =
    'Writes every setting to svc.yaml and creates missing files. It never changes an existing file. On a terminal it asks, and shows a summary before it writes.';
  static override examples = [
    { description: 'Create one in ./svc with the defaults', command: '<%= config.bin %> init --yes' },
    {
      description: 'Create one elsewhere, for another owner',
      command: '<%= config.bin %> init tools --owner-email ops@example.com --yes',
    },
    {
      description: 'Run each service as a process',
      command: '<%= config.bin %> init --topology distributed --graph sqlite --engine process',
    },
    {
      description: 'With the MCP servers that Claude Code uses, running and ready for agents',
      command: '<%= config.bin %> init --import claude-code --share --yes',
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
    import: repeatedFlag(
      'Add the MCP servers of an agent, such as claude-code, or of its configuration file. Starts the platform.',
      'AGENT|FILE',
    ),
    only: repeatedFlag('MCP server of --import to add, by its name in the file.', 'NAME'),
    share: Flags.boolean({
      summary: 'Let agents use all tools of --import: a skill of each MCP server, in the role Everyone.',
    }),
    start: Flags.boolean({ summary: 'Start the platform. Default: no; a terminal asks.', allowNo: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init);
    const terminal = this.terminal(flags);
    const dir =
      args.dir === undefined
        ? folderForNew({ dir: flags.dir, env: environment, cwd: process.cwd() })
        : resolve(args.dir);
    const wanted = installationIn(dir);
    refuseForeignFolder(wanted, typedFor(wanted));
    const exists = findInstallation({ dir, env: {}, cwd: process.cwd() }) !== null;
    const place = here();
    const given = givenBy(flags);
    const asks = !exists && !flags.yes && terminal.interactive;
    const answers = asks ? await askMissing(given, { terminal, place }) : given;
    refuseMismatch(answers.chosen);
    const { servers = [], shares = false, starts = servers.length > 0 } = answers;
    const values = new ReferenceValues({ env: environment, file: {} });
    for (const found of servers) await values.ask({ found }, terminal);
    if (asks || servers.length > 0) {
      terminal.talk(`\n${describePlan(dir, { ...answers, starts }, terminal)}\n`);
      if (!flags.yes) await agreeToMake(terminal);
    }
    const { installation, steps, owner } = await create(dir, answers, terminal);
    const made = steps.filter((step) => step.outcome === 'created');
    terminal.result(
      made.length === 0
        ? `Nothing to do: ${installation.dir} is an installation already.`
        : `${terminal.paint('green', 'Created')} ${installation.dir} (${made.map((step) => step.path).join(', ')}).`,
    );
    const running = starts ? await start(installation, terminal) : null;
    const imported =
      running === null || servers.length === 0
        ? []
        : await bringIn(servers, {
            ...{ installation, values, shares, home: place.home, ownUrls: [running.urls.mcp, running.urls.keys] },
            tenancy: await tenancyOf({ ...flags, dir: installation.dir }),
          });
    const now = running === null ? null : await status({ installation });
    terminal.json({
      ...{ dir: installation.dir, owner: { email: owner.email }, steps },
      ...{ platform: now, mcpServers: importedForm(imported) },
    });
    if (imported.length > 0) terminal.result(`\n${describeImported(imported, terminal)}`);
    if (imported.some(({ action }) => action === 'created')) {
      terminal.talk('They start now. Show their state: svc server list');
    }
    const words = now === null ? 'up' : await nextStep(now, installation);
    terminal.talk(`Next: ${nextCommand(words, { installation, env: environment, cwd: process.cwd() })}`);
    if (imported.some(({ action }) => action === 'refused')) throw new AlreadyReported(1);
  }
}

interface TypedFlags {
  readonly topology: string | undefined;
  readonly graph: string | undefined;
  readonly engine: string | undefined;
  readonly 'owner-email': string | undefined;
  readonly import: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly share: boolean;
  readonly start: boolean | undefined;
}

/** What the flags say. Files are read here, so that a wrong one is refused before anything is written. */
function givenBy(flags: TypedFlags): Given {
  const topology = choice('--topology', flags.topology, topologies);
  const graph = choice('--graph', flags.graph, graphs);
  const engine = choice('--engine', flags.engine, engines);
  if (flags.import === undefined && (flags.only !== undefined || flags.share)) {
    throw new SvcError('invalid_input', '--only and --share are about the MCP servers of --import.', {
      hint: 'Such as: svc init --import .mcp.json --share',
    });
  }
  if (flags.import !== undefined && flags.start === false) {
    throw new SvcError('invalid_input', '--import adds to a running platform, so --no-start does not go with it.', {
      hint: 'Add them after the start: svc server import FILE',
    });
  }
  return {
    // With an engine that needs the topology distributed, there is no question.
    chosen: {
      topology: topology ?? (engineTraits[engine ?? 'process'].needsDistributed ? 'distributed' : undefined),
      ...{ graph, engine },
    },
    ownerEmail: flags['owner-email'],
    servers: flags.import === undefined ? undefined : serversNamed(flags.import, flags.only ?? [], here()),
    shares: flags.share || undefined,
    starts: flags.start,
  };
}
