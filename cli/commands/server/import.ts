import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { clients } from '../../../services/contracts/clients/clients.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { status } from '../../../stack/operations/status.ts';
import { isInContainers } from '../../../stack/state/containers-record.ts';
import { AlreadyReported, environment, SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { parseClient } from '../../connect/choose-client.ts';
import { here } from '../../connect/here.ts';
import { confirmed } from '../../consent.ts';
import { ReferenceValues } from '../../import/ask-values.ts';
import {
  type Agreed,
  carryOut,
  describeImported,
  existingServers,
  type Imported,
  importedForm,
} from '../../import/carry-out.ts';
import { type Judged, judgeServers } from '../../import/judge-servers.ts';
import { describeEntry } from '../../import/launch-of.ts';
import { type FoundServer, serversOfClient, serversOfFile } from '../../import/sources.ts';
import { installationOf, type Tenancy, tenancyOf } from '../../objects/platform.ts';
import { fetchRuntimes, runtimeNamed } from '../../objects/runtimes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { readSettings } from '../../typed/settings-file.ts';

const readable = clients.flatMap((client) => (client.kind === 'file' ? [client.name] : []));

export default class ServerImport extends SvcCommand {
  static override summary = "Add the MCP servers of an agent's own configuration file.";
  static override description =
    'Shows each command before it asks, and runs none before the answer. Headers and variables that look secret become secrets of the platform.';
  static override aliases = ['servers:import'];
  static override examples = [
    { description: 'Those of a file', command: '<%= config.bin %> server import .mcp.json' },
    { description: 'Those that Cursor uses on this machine', command: '<%= config.bin %> server import --from cursor' },
    {
      description: 'Two of them, without a question',
      command: '<%= config.bin %> server import .mcp.json --only files --only github --yes',
    },
  ];
  static override usage = 'server import (FILE | --from CLIENT)';
  static override args = { file: Args.string({ description: 'Configuration file of an agent', name: 'FILE' }) };
  static override flags = {
    from: Flags.string({ summary: `The agent whose files are read: ${readable.join(', ')}.`, helpValue: 'CLIENT' }),
    only: Flags.string({
      summary: 'MCP server to add, by its name in the file. Repeat it for several.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    replace: Flags.boolean({ summary: 'Change MCP servers that exist already.' }),
    share: Flags.boolean({
      summary: 'Let agents use all tools of those that are added: a skill of each, in the role Everyone.',
    }),
    'variable-file': Flags.string({
      summary: 'File with NAME=value lines for the variables and inputs that the file refers to.',
      helpValue: 'FILE',
    }),
    runtime: Flags.string({ summary: "Runtime that runs them; default: the platform's own.", helpValue: 'NAME' }),
    workspace: workspaceFlag('Workspace they belong to.'),
    yes: { ...yesFlag, summary: 'Add them without a question.' },
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ServerImport);
    const terminal = this.terminal(flags);
    const place = here();
    const servers = serversOf(args.file, flags.from);
    const file =
      flags['variable-file'] === undefined ? [] : await readSettings('--variable-file', flags['variable-file'], '=');
    const values = new ReferenceValues({
      env: environment,
      file: Object.fromEntries(file.map(({ name, value }) => [name, value])),
    });
    const installation = installationOf(flags);
    const tenancy = await tenancyOf(flags);
    const { urls } = await status({ installation });
    const judged = judgeServers(servers, {
      only: flags.only ?? [],
      replaces: flags.replace,
      existing: await existingServers(tenancy),
      ownUrls: [urls.mcp, urls.keys],
    });
    const elsewhere = isInContainers(installation) || (await isOnOther(tenancy, flags.runtime));
    const agreed = await agree(judged, { yes: flags.yes, terminal });
    const carryingOut = {
      ...{ tenancy, runtime: flags.runtime ?? null, shares: flags.share },
      values: { find: values.find, home: place.home, elsewhere },
    };
    const imported: Imported[] = [];
    for (const one of agreed) {
      if (one.kind === 'new' || one.kind === 'replaces') await values.ask(one, terminal);
      imported.push(await carryOut(one, carryingOut));
    }
    terminal.json({ mcpServers: importedForm(imported) });
    terminal.result(describeImported(imported, terminal));
    if (imported.some(({ action }) => action === 'created' || action === 'updated')) {
      terminal.talk('They start now. Show their state: svc server list');
    }
    const refused = imported.filter(({ action }) => action === 'refused');
    if (refused.length === 0) return;
    throw new AlreadyReported(refused.every(({ isConflict }) => isConflict) ? 5 : 1);
  }
}

function serversOf(file: string | undefined, from: string | undefined): readonly FoundServer[] {
  if ((file === undefined) === (from === undefined)) {
    throw new SvcError('invalid_input', 'Give either a FILE or --from CLIENT.', {
      hint: 'Such as: svc server import .mcp.json',
    });
  }
  const servers = file === undefined ? serversOfClient(parseClient('--from', from ?? ''), here()) : serversOfFile(file);
  if (servers.length > 0) return servers;
  throw new SvcError(
    'not_found',
    `${file === undefined ? `The configuration of ${from}` : `"${file}"`} names no MCP servers.`,
  );
}

async function isOnOther({ backend, workspace }: Tenancy, runtime: string | undefined): Promise<boolean> {
  return runtime !== undefined && !runtimeNamed(await fetchRuntimes(backend, workspace.id), runtime).platform;
}

/** Shows every command, and asks for each. Without a terminal all of them need --yes. */
async function agree(
  judged: readonly Judged[],
  { yes, terminal }: { readonly yes: boolean; readonly terminal: Terminal },
): Promise<readonly Agreed[]> {
  const agreed: Agreed[] = [];
  for (const one of judged) {
    if (one.kind === 'skipped' || one.kind === 'refused' || one.found.entry.kind === 'unreadable') {
      agreed.push(one);
      continue;
    }
    const { name, found } = one;
    terminal.talk(`${terminal.paint('bold', name)}  ${describeEntry(one.found.entry)}`);
    if (name !== found.name)
      terminal.talk(`  "${oneLine(found.name)}" is no name for an MCP server, so it becomes "${name}".`);
    if (found.ignored.length > 0) terminal.talk(`  Ignored: ${oneLine(found.ignored.join(', '))}`);
    const question = one.kind === 'replaces' ? `Change ${name}, which exists?` : `Add ${name}?`;
    if (yes || (terminal.interactive && (await confirmed(question)))) agreed.push(one);
    else agreed.push({ kind: 'declined', name, found });
  }
  if (yes || terminal.interactive || !agreed.some(({ kind }) => kind === 'declined')) return agreed;
  throw new SvcError('invalid_input', 'Adding these MCP servers runs their commands, so it must be confirmed.', {
    hint: 'Without a terminal, add --yes, and --only NAME for some of them.',
  });
}
