import * as Flags from '@oclif/core/flags';
import { type Client, clientNames, defaultServerName } from '../../services/contracts/clients/clients.ts';
import { textOf, withPreloading } from '../../services/contracts/clients/snippet.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseName } from '../../services/contracts/names.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { status } from '../../stack/operations/status.ts';
import { environment, type SharedFlags, SvcCommand, workspaceFlag } from '../command.ts';
import { chooseClient } from '../connect/choose-client.ts';
import { keyToWrite, offerKey } from '../connect/connection-key.ts';
import { here } from '../connect/here.ts';
import { aboutKey, showNewKey, showSnippet } from '../connect/show-snippet.ts';
import { fileToWrite, type Written, writeEntry } from '../connect/write-entry.ts';
import { refuseKeyAsArgument } from '../keys-test/key-source.ts';
import { installationOf, type Tenancy, tenancyOf } from '../objects/platform.ts';
import { fetchRoles, roleNamed } from '../objects/roles.ts';
import { fetchSkills, skillNamed } from '../objects/skills.ts';
import { choice } from '../typed/how-it-runs.ts';

const severalFlag = { multiple: true, multipleNonGreedy: true } as const;
const scopes = ['user', 'project'] as const;

export default class Connect extends SvcCommand {
  static override summary = 'Show how an agent connects, or write it into the configuration file of the agent.';
  static override description =
    'Without --write it only prints. The file gets no key where the agent can read it from a variable or asks for it.';
  static override examples = [
    { description: 'The snippet for VS Code', command: '<%= config.bin %> connect --client vscode' },
    {
      description: 'Write it into the file of Cursor, and make the skills of one role visible from the start',
      command: '<%= config.bin %> connect --client cursor --role Reader --write',
    },
    {
      description: 'Write it with the key, for an agent that reads no variables',
      command: '<%= config.bin %> connect --client claude-desktop --write --key-file key.txt',
    },
  ];
  static override flags = {
    client: Flags.string({ summary: `The agent: ${clientNames.join(', ')}.`, helpValue: 'CLIENT' }),
    write: Flags.boolean({ summary: "Write it into the agent's own file, after showing the change." }),
    scope: Flags.string({
      summary: 'The file to write: of the user, or of the project in this folder. Default: the usual one of the agent.',
      helpValue: scopes.join('|'),
      dependsOn: ['write'],
    }),
    name: Flags.string({
      summary: 'Name under which the agent lists the platform.',
      default: defaultServerName,
      helpValue: 'NAME',
    }),
    role: Flags.string({
      summary: 'Role whose skills are visible from the start. Repeat it for several.',
      helpValue: 'ROLE',
      ...severalFlag,
    }),
    skill: Flags.string({
      summary: 'Skill that is visible from the start. Repeat it for several.',
      helpValue: 'SKILL',
      ...severalFlag,
    }),
    workspace: workspaceFlag('Workspace of the roles, skills and the new key.'),
    'key-file': Flags.string({
      summary: 'File with the key to write into the file; - is stdin.',
      helpValue: 'FILE',
      dependsOn: ['write'],
    }),
    yes: Flags.boolean({ char: 'y', summary: 'Write without a question.' }),
  };

  async run(): Promise<void> {
    refuseKeyAsArgument(this.argv, 'Set SVC_API_KEY, or name a file with --key-file.');
    const { flags } = await this.parse(Connect);
    const terminal = this.terminal(flags);
    const name = parseName('mcpServer', flags.name);
    const scope = choice('--scope', flags.scope, scopes);
    const place = here();
    const client = await chooseClient(flags.client, terminal, place);
    const tenancy = () => tenancyOf(flags);
    const chosen = await preloading(flags, tenancy);
    const address = (await status({ installation: installationOf(flags) })).urls.keys;
    const connection = { name, url: withPreloading(address, chosen), key: null };
    const snippet = textOf(client, connection);
    if (!flags.write) {
      const file = client.kind === 'file' ? fileToWrite(client, place, scope).path : null;
      showSnippet({ client, file, text: snippet }, terminal);
      if (file !== null) terminal.talk(`Write it there: ${commandToWrite(client, flags)}`);
      const made = await offerKey(client, { tenancy, roles: chosen.roles }, terminal);
      if (made !== null) showNewKey(made.key, terminal);
      return;
    }
    if (client.kind === 'text') {
      throw new SvcError('unsupported', `${client.title} has no known configuration file.`, {
        hint: `Print it, and use it yourself: svc connect --client ${client.name}`,
      });
    }
    const file = fileToWrite(client, place, scope);
    const used = await keyToWrite(
      { client, keyFile: flags['key-file'], env: environment, tenancy, roles: chosen.roles },
      terminal,
    );
    const key = used?.key ?? null;
    const done = await writeEntry({ file, connection: { ...connection, key }, place, yes: flags.yes }, terminal).catch(
      (error: unknown) => {
        const unused = used?.createdAs ?? null;
        if (unused !== null) terminal.warn(`The new key is not used. Revoke it: svc keys revoke ${shellWord(unused)}`);
        throw error;
      },
    );
    terminal.json({ client: client.name, file: file.path, snippet, ...done });
    terminal.result(outcome(file.path, done));
    if (key === null) terminal.talk(aboutKey(client, snippet));
    if (done.written) terminal.talk(`Restart ${client.title} to connect. Test the key: svc keys test`);
  }
}

interface Preloading {
  readonly roles: readonly string[];
  readonly skills: readonly string[];
}

/** Ids: a renamed role or skill stays visible. */
async function preloading(
  flags: SharedFlags & { readonly role?: string[] | undefined; readonly skill?: string[] | undefined },
  tenancy: () => Promise<Tenancy>,
): Promise<Preloading> {
  const { role = [], skill = [] } = flags;
  if (role.length === 0 && skill.length === 0) return { roles: [], skills: [] };
  const { backend, workspace } = await tenancy();
  const roles = role.length === 0 ? [] : await fetchRoles(backend, workspace.id);
  const skills = skill.length === 0 ? [] : await fetchSkills(backend, workspace.id);
  return {
    roles: role.map((given) => roleNamed(roles, given).id),
    skills: skill.map((given) => skillNamed(skills, given).id),
  };
}

function commandToWrite(
  { name }: Client,
  {
    role = [],
    skill = [],
    name: listedAs,
    workspace,
  }: {
    readonly role?: string[] | undefined;
    readonly skill?: string[] | undefined;
    readonly name: string;
    readonly workspace?: string | undefined;
  },
): string {
  const more = [
    ...role.map((given) => ['--role', given]),
    ...skill.map((given) => ['--skill', given]),
    ...(listedAs === defaultServerName ? [] : [['--name', listedAs]]),
    ...(workspace === undefined ? [] : [['--workspace', workspace]]),
  ];
  return ['svc connect --client', name, '--write', ...more.flat().map(shellWord)].join(' ');
}

function outcome(file: string, { written, backup }: Written): string {
  if (!written) return `Nothing to change in ${file}.`;
  return backup === null ? `Wrote ${file}.` : `Wrote ${file}. The old file is ${backup}.`;
}
