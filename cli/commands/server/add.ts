import { setTimeout as pause } from 'node:timers/promises';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { createMcpServerMutation, type LaunchInput } from '../../../stack/client/generated/operations.ts';
import { isInContainers } from '../../../stack/state/containers-record.ts';
import { AlreadyReported, interruption, SvcCommand, sharedSwitches, workspaceFlag } from '../../command.ts';
import { checkLaunchWords, refuseSecretWords, splitLaunch } from '../../launch-words.ts';
import { describeFailure, describeTools, staysAdded } from '../../output/server.ts';
import type { Terminal } from '../../output/terminal.ts';
import { span } from '../../output/times-and-sizes.ts';
import { oneLine } from '../../output/width.ts';
import { installationOf, type Tenancy, tenancyOf } from '../../platform.ts';
import { fetchRuntimes, runtimeNamed } from '../../runtimes.ts';
import { fetchServer, fetchTools, type McpServer } from '../../servers.ts';
import { readSettings, type Setting } from '../../settings-file.ts';

const pollMs = 200;
/** The first start with npx on a slow connection takes more than a minute. */
const waitMs = 90_000;
/** A person who waits wants to see that the command still works. */
const tellMs = 5000;

export default class ServerAdd extends SvcCommand {
  static override summary = 'Add an MCP server and wait until it is Connected.';
  static override aliases = ['servers:add'];
  static override examples = [
    {
      description: 'One that runs as a command',
      command: '<%= config.bin %> server add everything -- npx -y @modelcontextprotocol/server-everything',
    },
    {
      description: 'One that is reached over HTTP, with a header from a file',
      command: '<%= config.bin %> server add crm --url https://crm.example.com/mcp --header-file crm.headers',
    },
  ];
  static override usage = 'server add NAME (-- COMMAND [ARG…] | --url URL)';
  static override args = { name: Args.string({ description: 'Name of the MCP server', required: true, name: 'NAME' }) };
  static override flags = {
    url: Flags.string({ summary: 'Address of an MCP server that is reached over HTTP.', helpValue: 'URL' }),
    cwd: Flags.string({
      summary:
        'Working folder of the command. Default: this folder, or a new one on another machine or in a container.',
      helpValue: 'DIR',
    }),
    'variable-file': Flags.string({ summary: 'File with NAME=value lines for the command.', helpValue: 'FILE' }),
    'header-file': Flags.string({ summary: 'File with Name: value lines for the URL.', helpValue: 'FILE' }),
    runtime: Flags.string({ summary: "Runtime that runs it; default: the platform's own.", helpValue: 'NAME' }),
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const words = splitLaunch(this.argv);
    refuseSecretWords(words);
    checkLaunchWords(words, sharedSwitches);
    const { args, flags } = await this.parse(ServerAdd, [...words.own]);
    const terminal = this.terminal(flags);
    const [command, ...commandArgs] = words.command ?? [];
    const env =
      flags['variable-file'] === undefined ? [] : await readSettings('--variable-file', flags['variable-file'], '=');
    const headers =
      flags['header-file'] === undefined ? [] : await readSettings('--header-file', flags['header-file'], ':');
    const given = { command, args: commandArgs, cwd: flags.cwd, env, url: flags.url, headers };
    checkLaunch(given);
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const awayFromHere = isInContainers(installationOf(flags)) || (await isElsewhere(tenancy, flags.runtime));
    const launch = launchOf(given, awayFromHere);
    const answer = await tenancy.backend.send(createMcpServerMutation, {
      workspace: tenancy.workspace.id,
      input: { name: args.name, launch, runtime: flags.runtime ?? null },
    });
    const { id, name } = answer.createMcpServer;
    const added = await getAdded(tenancy, id);
    const isAwaited = flags.runtime === undefined || added.runtimes.some(({ available }) => available);
    if (isAwaited) terminal.talk(`Added ${name}; waiting until it is Connected.`);
    const server = isAwaited ? await settled(tenancy, { id, name }, { signal, terminal }) : added;
    const tools = server.status === 'Connected' ? await fetchTools(tenancy.backend, tenancy.workspace.id, id) : [];
    terminal.json({
      id,
      name,
      status: server.status,
      health: server.health,
      reason: server.reason,
      stderr: server.status === 'Connected' ? [] : server.stderr,
      tools: tools.filter((tool) => tool.listed).map((tool) => ({ name: tool.name, originalName: tool.originalName })),
    });
    if (server.status === 'Connected') {
      terminal.result(`${terminal.paint('green', 'Connected')}\n\n${describeTools(tools, terminal)}`);
      terminal.talk(`\nNext, put tools into a skill: svc skill create NAME --tool ${name}/TOOL`);
      return;
    }
    if (!isAwaited) {
      terminal.result(
        `Added ${name}. Its runtime ${flags.runtime} is not connected. The MCP server starts when the runtime connects.`,
      );
      terminal.talk('Start the runtime on its machine: svc runtime start. Check it: svc runtime list');
      return;
    }
    terminal.complain(describeFailure(server, terminal));
    throw new AlreadyReported(1);
  }
}

interface LaunchFlags {
  readonly command: string | undefined;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: readonly Setting[];
  readonly url: string | undefined;
  readonly headers: readonly Setting[];
}

function checkLaunch({ command, cwd, env, url, headers }: LaunchFlags): void {
  if (url !== undefined && command !== undefined) {
    throw new SvcError('invalid_input', 'Give either --url or a command after --, not both.');
  }
  if (url !== undefined) {
    if (env.length > 0 || cwd !== undefined)
      throw new SvcError('invalid_input', '--variable-file and --cwd are for a command, not for --url.');
    return;
  }
  if (command === undefined) {
    throw new SvcError('invalid_input', 'An MCP server needs a command after -- or --url.', {
      hint: 'svc server add files -- npx -y @modelcontextprotocol/server-filesystem ./docs',
    });
  }
  if (headers.length > 0) throw new SvcError('invalid_input', '--header-file is for --url, not for a command.');
}

/** The working folder exists on this machine only. On another machine a command without a folder runs in its home. */
function launchOf({ command, args, cwd, env, url, headers }: LaunchFlags, elsewhere: boolean): LaunchInput {
  if (url !== undefined) return { url, headers };
  return { command, args, env, cwd: cwd ?? (elsewhere ? null : process.cwd()) };
}

/** A registered runtime may be on any machine, even when it runs on this one now. */
async function isElsewhere({ backend, workspace }: Tenancy, runtime: string | undefined): Promise<boolean> {
  if (runtime === undefined) return false;
  return !runtimeNamed(await fetchRuntimes(backend, workspace.id), runtime).platform;
}

/** Waits until the MCP server is Connected or its runtime reports an error. Disconnected is no outcome. */
async function settled(
  { backend, workspace }: Tenancy,
  { id, name }: { readonly id: string; readonly name: string },
  { signal, terminal }: { readonly signal: AbortSignal; readonly terminal: Terminal },
): Promise<McpServer> {
  const start = Date.now();
  let toldMs = 0;
  for (;;) {
    const server = await getAdded({ backend, workspace }, id);
    const done = server.status === 'Connected' || server.status === 'Error';
    const passedMs = Date.now() - start;
    if (done || !server.enabled || passedMs > waitMs) return server;
    if (passedMs - toldMs >= tellMs) {
      toldMs = passedMs;
      const cause = server.reason === null ? 'No runtime has reported yet.' : server.reason.message;
      terminal.talk(`${terminal.paint('grey', '·')} ${span(passedMs)}: ${oneLine(cause)}`);
    }
    await pause(pollMs, undefined, { signal }).catch(() => {
      if (!terminal.asJson) terminal.complain(`\nInterrupted. ${staysAdded(name)}`);
      throw new SvcError('cancelled', `Interrupted: the MCP server "${name}" stays added.`, {
        hint: `Remove it: svc server remove ${name}`,
      });
    });
  }
}

async function getAdded({ backend, workspace }: Tenancy, id: string): Promise<McpServer> {
  const server = await fetchServer(backend, workspace.id, id);
  if (server !== null) return server;
  throw new SvcError('not_found', 'The MCP server was removed meanwhile.');
}
