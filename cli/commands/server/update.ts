import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { oneLine } from '../../../services/contracts/one-line.ts';
import {
  changedSettingsQuery,
  type LaunchInput,
  updateMcpServerMutation,
} from '../../../stack/client/generated/operations.ts';
import { isInContainers } from '../../../stack/state/containers-record.ts';
import { interruption, SvcCommand, sharedSwitches, workspaceFlag, yesFlag } from '../../command.ts';
import { makeSure } from '../../consent.ts';
import { awaitServer, getPresent, type Known, serverDocument, tellOutcome } from '../../launch/await-server.ts';
import { checkTransport, givenSettings, launchFlags, timeoutsOf, withValues } from '../../launch/launch-flags.ts';
import { checkLaunchWords, refuseSecretWords, splitLaunch } from '../../launch/launch-words.ts';
import { changedParts, patchedLaunch } from '../../launch/update-launch.ts';
import { installationOf, type Tenancy, tenancyOf } from '../../objects/platform.ts';
import { fetchTools, getStoredServer, type McpServer } from '../../objects/servers.ts';
import { launchLine } from '../../output/server.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class ServerUpdate extends SvcCommand {
  static override summary = 'Change an MCP server and wait until it is Connected again.';
  static override description =
    'What is not named stays, secret values included. The MCP server finishes its calls and starts again if its command, URL, settings or runtime change.';
  static override aliases = ['servers:update'];
  static override examples = [
    {
      description: 'Another command; variables and folder stay',
      command: '<%= config.bin %> server update files -- npx -y @modelcontextprotocol/server-filesystem ./docs',
    },
    {
      description: 'A new secret value, and one variable less',
      command: '<%= config.bin %> server update github --env GITHUB_TOKEN --unset-env LOG',
    },
    {
      description: 'Do not start it without this variable, and name it where people fill in settings',
      command: '<%= config.bin %> server update github --require GITHUB_TOKEN',
    },
  ];
  static override usage =
    'server update NAME [--env NAME[=VALUE]]… [--unset-env NAME]… [--header NAME[: VALUE]]… [--unset-header NAME]… [--require NAME]… [--unset-require NAME]… [--cwd DIR] [--url URL] [--runtime NAME] [--start-timeout SECONDS] [--call-timeout SECONDS] [--name NAME] [-- COMMAND [ARG…]]';
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    ...launchFlags,
    'unset-env': Flags.string({
      summary: 'Variable to remove; may be repeated.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'unset-header': Flags.string({
      summary: 'Header to remove; may be repeated.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'unset-require': Flags.string({
      summary: 'Declared setting that people no longer fill in. Its value stays; may be repeated.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    cwd: Flags.string({ summary: 'Working folder of the command. Empty: a folder of its own.', helpValue: 'DIR' }),
    runtime: Flags.string({ summary: "Runtime that runs it. Empty: the platform's own.", helpValue: 'NAME' }),
    name: Flags.string({ summary: 'New name.', helpValue: 'NAME' }),
    workspace: workspaceFlag('Workspace of the MCP server.'),
    yes: { ...yesFlag, summary: "Confirm without a question that a member's command becomes yours." },
  };

  async run(): Promise<void> {
    const words = splitLaunch(this.argv);
    const form = { verb: 'update', switches: [...sharedSwitches, '--yes', '-y'] } as const;
    refuseSecretWords(words, form);
    checkLaunchWords(words, form);
    const { args, flags } = await this.parse(ServerUpdate, [...words.own]);
    const terminal = this.terminal(flags);
    checkTransport(flags);
    const settings = await givenSettings(flags);
    const unset = { unsetEnv: flags['unset-env'] ?? [], unsetHeaders: flags['unset-header'] ?? [] };
    const required = { require: flags.require ?? [], unsetRequire: flags['unset-require'] ?? [] };
    const { url, cwd, name, runtime } = flags;
    const { command } = words;
    const timeouts = timeoutsOf(flags);
    const changesLaunch =
      command !== null ||
      [url, cwd].some((value) => value !== undefined) ||
      [settings.env, settings.headers, ...Object.values(unset), ...Object.values(required)].some(
        (list) => list.length > 0,
      );
    checkPatch({
      command,
      url,
      isEmpty:
        !changesLaunch &&
        [name, runtime].every((value) => value === undefined) &&
        !timeoutFields.some((field) => timeouts[field] !== null),
    });
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const before = await getStoredServer(backend, workspace.id, args.name);
    const isTakenOver = before.launch?.setBy === 'member';
    if (changesLaunch && isTakenOver && command === null && url === undefined) {
      await agreeToTakeOver(before, { terminal, yes: flags.yes });
    }
    const isElsewhere = isInContainers(installationOf(flags)) || before.runtimes.some(({ platform }) => !platform);
    const launch = changesLaunch
      ? patchedLaunch(
          before,
          { command, url, cwd, ...unset, ...required, ...(await withValues(settings, terminal)) },
          { isElsewhere },
        )
      : null;
    const changed = [
      ...(name === undefined || name === before.name ? [] : ['name']),
      ...(launch === null ? [] : changedParts(before, launch)),
      ...(launch === null ? [] : await fetchChangedSettings(tenancy, before.id, launch)),
      ...(launch !== null && isTakenOver ? ['setBy'] : []),
      ...(runtime === undefined || isOn(before, runtime) ? [] : ['runtime']),
      ...timeoutFields.filter((field) => timeouts[field] !== null && timeouts[field] !== (before[field] ?? 0)),
    ];
    let known: Known = before;
    if (changed.length > 0) {
      const input = { launch, name: name ?? null, runtime: runtime ?? null, ...timeouts, ifVersion: before.version };
      const answer = await backend.send(updateMcpServerMutation, { workspace: workspace.id, id: before.id, input });
      known = { ...before, version: answer.updateMcpServer.version, did: 'changed' };
    }
    const after = await getPresent(tenancy, known);
    terminal.result(
      changed.length === 0
        ? `Nothing to change: ${after.name} is like that already.`
        : `Changed MCP server ${after.name}: ${oneLine(changed.join(', '))}.`,
    );
    const restarts = changed.some((field) => !['name', ...timeoutFields].includes(field));
    const isLeftAlone = !restarts || !before.enabled;
    if (isLeftAlone || (runtime !== undefined && !after.runtimes.some(({ available }) => available))) {
      const tools = after.status === 'Connected' ? await fetchTools(backend, workspace.id, after.id) : [];
      terminal.json(serverDocument(after, tools, { changed }));
      if (restarts)
        terminal.talk(`It is not running: ${oneLine(after.reason?.message ?? 'no runtime has reported yet.')}`);
      return;
    }
    terminal.talk('Waiting until it is Connected.');
    const server = await awaitServer(tenancy, { ...known, name: after.name, done: 'changed', signal, terminal });
    await tellOutcome(tenancy, { server, done: 'changed', terminal }, { changed });
  }
}

const timeoutFields = ['startTimeout', 'callTimeout'] as const;

interface Patch {
  readonly command: readonly string[] | null;
  readonly url: string | undefined;
  readonly isEmpty: boolean;
}

function checkPatch({ command, url, isEmpty }: Patch): void {
  if (command !== null && url !== undefined) {
    throw new SvcError('invalid_input', 'Give either --url or a command after --, not both.');
  }
  if (command?.length === 0) throw new SvcError('invalid_input', 'The command after -- is missing.');
  if (!isEmpty) return;
  throw new SvcError('invalid_input', 'No change was given.', {
    hint: 'Give at least one: --env, --unset-env, --variable-file, --header, --unset-header, --header-file, --require, --unset-require, --cwd, --url, --runtime, --start-timeout, --call-timeout, --name, or a command after --.',
  });
}

/** A command that a member set runs in a sandbox; as the operator's it has the operator's permissions. */
async function agreeToTakeOver(
  { name, launch }: McpServer,
  { terminal, yes }: { readonly terminal: Terminal; readonly yes: boolean },
): Promise<void> {
  await makeSure(terminal, {
    what: `A member of the workspace set how ${name} is started: ${launch === null ? '' : oneLine(launchLine(launch))}\nAfter your change an operator counts as its author, and it runs with an operator's permissions.`,
    question: `Change ${name}, and become the author of the whole launch?`,
    declined: 'Nothing was changed.',
    yes,
  });
}

/** Whether it runs on that runtime already; an empty name means the platform's own. */
function isOn({ runtimes }: McpServer, runtime: string): boolean {
  return runtime.trim() === ''
    ? runtimes.every(({ platform }) => platform)
    : runtimes.some(({ name }) => name === runtime);
}

async function fetchChangedSettings(
  { backend, workspace }: Tenancy,
  id: string,
  launch: LaunchInput,
): Promise<readonly string[]> {
  const { workspace: found } = await backend.send(changedSettingsQuery, { workspace: workspace.id, id, launch });
  return found?.mcpServer?.changedSettings ?? [];
}
