import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { CatalogueEntry } from '../../../services/contracts/mcp-server-catalogue.ts';
import type { SettingsField } from '../../../services/contracts/setting-rules.ts';
import { createMcpServerMutation, type LaunchInput } from '../../../stack/client/generated/operations.ts';
import { isInContainers } from '../../../stack/state/containers-record.ts';
import { interruption, SvcCommand, sharedSwitches, workspaceFlag } from '../../command.ts';
import { awaitServer, getPresent, serverDocument, tellOutcome, tellWithoutTools } from '../../launch/await-server.ts';
import {
  catalogueEntry,
  catalogueNames,
  filledBlanks,
  launchFromEntry,
  settingsFieldOf,
} from '../../launch/catalogue-entry.ts';
import {
  checkTransport,
  folderOf,
  type GivenSettings,
  givenSettings,
  launchFlags,
  requiredNames,
  timeoutsOf,
  withValues,
} from '../../launch/launch-flags.ts';
import { checkLaunchWords, refuseSecretWords, splitLaunch } from '../../launch/launch-words.ts';
import { offerUse } from '../../launch/offer-use.ts';
import { declaredAfter } from '../../launch/required-settings.ts';
import { share } from '../../launch/share.ts';
import { installationOf, remoteMcpOf, type Tenancy, tenancyOf } from '../../objects/platform.ts';
import { fetchRuntimes, runtimeNamed } from '../../objects/runtimes.ts';
import { refuseTaken } from '../../objects/servers.ts';

export default class ServerAdd extends SvcCommand {
  static override summary = 'Add an MCP server and wait until it is Connected.';
  static override aliases = ['servers:add'];
  static override examples = [
    {
      description: 'One that runs as a command',
      command: '<%= config.bin %> server add everything -- npx -y @modelcontextprotocol/server-everything',
    },
    {
      description: 'For agents at once: a skill of all its tools, in a role for everyone',
      command: '<%= config.bin %> server add everything --share -- npx -y @modelcontextprotocol/server-everything',
    },
    {
      description: 'With a plain variable, and a secret one from the environment or a prompt',
      command: '<%= config.bin %> server add github --env LOG=debug --env GITHUB_TOKEN -- npx -y github-mcp-server',
    },
    {
      description: 'A well-known one: everything but the folder is known',
      command: '<%= config.bin %> server add --from files --fill folder=./docs',
    },
    {
      description: 'With a secret that another person fills in later, in the page',
      command: '<%= config.bin %> server add tracker --require TRACKER_TOKEN -- npx -y tracker-mcp-server',
    },
    {
      description: 'One that is reached over HTTP, with a secret header',
      command: '<%= config.bin %> server add crm --url https://crm.example.com/mcp --header Authorization',
    },
  ];
  static override usage = 'server add (NAME -- COMMAND [ARG…] | NAME --url URL | [NAME] --from ENTRY)';
  static override args = {
    name: Args.string({ description: 'Name of the MCP server; with --from, its usual one', name: 'NAME' }),
  };
  static override flags = {
    ...launchFlags,
    from: Flags.string({
      summary: `Well-known MCP server, with its command or address and its settings: ${catalogueNames.join(', ')}.`,
      helpValue: 'ENTRY',
    }),
    fill: Flags.string({
      summary: 'Argument that the well-known MCP server needs, such as folder=./docs; may be repeated.',
      helpValue: 'NAME=VALUE',
      dependsOn: ['from'],
      multiple: true,
      multipleNonGreedy: true,
    }),
    cwd: Flags.string({
      summary:
        'Working folder of the command. Default: this folder, or a new one on another machine or in a container.',
      helpValue: 'DIR',
    }),
    runtime: Flags.string({ summary: "Runtime that runs it; default: the platform's own.", helpValue: 'NAME' }),
    share: Flags.boolean({
      summary: 'Let agents use all its tools: a skill of them, in the role Everyone. Default: no; a terminal asks.',
    }),
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const words = splitLaunch(this.argv);
    const form = { verb: 'add', switches: [...sharedSwitches, '--share'] } as const;
    refuseSecretWords(words, form);
    checkLaunchWords(words, form);
    const { args, flags } = await this.parse(ServerAdd, [...words.own]);
    const terminal = this.terminal(flags);
    const [command, ...commandArgs] = words.command ?? [];
    const settings = await givenSettings(flags);
    checkTransport(flags);
    const entry = flags.from === undefined ? null : catalogueEntry(flags.from);
    const given = checkLaunch({
      name: args.name ?? entry?.name,
      command,
      cwd: flags.cwd,
      url: flags.url,
      entry,
      settings,
    });
    const field: SettingsField =
      entry === null ? (flags.url === undefined ? 'env' : 'headers') : settingsFieldOf(entry);
    const required = requiredNames(flags.require ?? [], field);
    const filled = entry === null ? new Map() : filledBlanks(entry, flags.fill ?? []);
    const timeouts = timeoutsOf(flags);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const awayFromHere = isInContainers(installationOf(flags)) || (await isElsewhere(tenancy, flags.runtime));
    // Nobody is asked for the secrets of an MCP server that is refused.
    const asks = entry !== null || [...settings.env, ...settings.headers].some(({ value }) => value === null);
    if (asks && terminal.interactive) await refuseTaken(tenancy, given);
    const { [field]: values } = await withValues(settings, terminal);
    const cwd = flags.cwd ?? (awayFromHere ? '' : process.cwd());
    const folder = field === 'env' ? { cwd: folderOf(cwd, awayFromHere) } : {};
    const declared = () => declaredAfter({ field, declared: [], stored: null, given: values, required, unset: [] });
    const launch: LaunchInput =
      entry !== null
        ? { ...(await launchFromEntry(entry, { filled, given: values, required }, terminal)), ...folder }
        : flags.url === undefined
          ? { command, args: commandArgs, env: values, ...folder, settings: declared() }
          : { url: flags.url, headers: values, settings: declared() };
    const answer = await tenancy.backend.send(createMcpServerMutation, {
      workspace: tenancy.workspace.id,
      input: { name: given, launch, runtime: flags.runtime ?? null, ...timeouts },
    });
    const { id, name, version } = answer.createMcpServer;
    const known = { id, name, version, did: 'added' };
    const added = await getPresent(tenancy, known);
    if (flags.runtime !== undefined && !added.runtimes.some(({ available }) => available)) {
      terminal.json(serverDocument(added, []));
      terminal.result(
        `Added ${name}. Its runtime ${flags.runtime} is not connected. The MCP server starts when the runtime connects.`,
      );
      terminal.talk('Start the runtime on its machine: svc runtime start. Check it: svc runtime list');
      return;
    }
    terminal.talk(`Added ${name}; waiting until it is Connected.`);
    const server = await awaitServer(tenancy, { ...known, done: 'added', signal, terminal });
    // A person decides with the list of tools in view. A program reads one document, so its tools are shared before.
    const sharesFirst = flags.share && server.status === 'Connected';
    const shared = sharesFirst ? await share(tenancy, name) : null;
    const tools = await tellOutcome(tenancy, { server, done: 'added', terminal }, shared === null ? {} : { shared });
    if (tools === 0 && shared === null) tellWithoutTools(name, terminal);
    else await offerUse(tenancy, { name, shared, address: () => remoteMcpOf(flags) }, terminal);
  }
}

interface GivenLaunch {
  readonly name: string | undefined;
  readonly command: string | undefined;
  readonly cwd: string | undefined;
  readonly url: string | undefined;
  readonly entry: CatalogueEntry | null;
  readonly settings: GivenSettings;
}

/** Refuses words that do not fit together. Returns the name of the MCP server. */
function checkLaunch({ name, command, cwd, url, entry, settings }: GivenLaunch): string {
  const ways = [
    ...(entry === null ? [] : ['--from']),
    ...(url === undefined ? [] : ['--url']),
    ...(command === undefined ? [] : ['a command after --']),
  ];
  if (ways.length > 1) {
    throw new SvcError('invalid_input', `Give either ${ways[0]} or ${ways[1]}, not both.`);
  }
  if (name === undefined) {
    throw new SvcError('invalid_input', 'NAME is missing.', { hint: `Usage: svc ${ServerAdd.usage}` });
  }
  if (ways.length === 0 && /^https?:/i.test(name)) {
    throw new SvcError('invalid_input', 'The name of the MCP server is missing before its URL.', {
      hint: 'Type it as: svc server add NAME --url URL',
    });
  }
  if (ways.length === 0) {
    throw new SvcError(
      'invalid_input',
      'An MCP server needs a command after -- or --url, or --from for a well-known one.',
      {
        hint: 'Such as: svc server add files -- npx -y @modelcontextprotocol/server-filesystem ./docs',
      },
    );
  }
  const isUrl = url !== undefined || entry?.launch.kind === 'url';
  if (isUrl && (settings.env.length > 0 || cwd !== undefined)) {
    throw new SvcError('invalid_input', '--env, --variable-file and --cwd are for a command, not for --url.');
  }
  if (!isUrl && settings.headers.length > 0) {
    throw new SvcError('invalid_input', '--header and --header-file are for --url, not for a command.');
  }
  return name;
}

/** A registered runtime may be on any machine, even when it runs on this one now. */
async function isElsewhere({ backend, workspace }: Tenancy, runtime: string | undefined): Promise<boolean> {
  if (runtime === undefined) return false;
  return !runtimeNamed(await fetchRuntimes(backend, workspace.id), runtime).platform;
}
