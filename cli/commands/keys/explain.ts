import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { identifyKeyQuery, workspaceStateQuery } from '../../../stack/client/generated/operations.ts';
import { environment, type SharedFlags, SvcCommand, workspaceFlag } from '../../command.ts';
import { explainKey } from '../../keys/explain-key.ts';
import { faultInText } from '../../keys-test/causes.ts';
import { readKey, refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { fetchKeys, type Key, keyNamed } from '../../objects/keys.ts';
import { installationOf, type Tenancy, tenancyOf } from '../../objects/platform.ts';
import { fetchRoles } from '../../objects/roles.ts';
import { fetchServers } from '../../objects/servers.ts';
import { fetchSkills } from '../../objects/skills.ts';
import { fetchWorkspaceTools } from '../../objects/tool-list-size.ts';
import { describeExplanation } from '../../output/key-explanation.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class KeysExplain extends SvcCommand {
  static override summary = 'Explain what an agent with a key can use, and for everything else why not.';
  static override aliases = ['key:explain'];
  static override examples = [
    { description: 'By name', command: '<%= config.bin %> keys explain laptop' },
    { description: 'A key that you have', command: '<%= config.bin %> keys explain --key-file key.txt' },
  ];
  static override args = {
    name: Args.string({ description: 'Name or id; without it, the key is read', required: false, name: 'NAME' }),
  };
  static override flags = {
    'key-file': Flags.string({ summary: 'File that holds the key.', helpValue: 'FILE' }),
    workspace: workspaceFlag('Workspace of a key that is named.'),
  };

  async run(): Promise<void> {
    refuseKeyAsArgument(this.argv);
    const { args, flags } = await this.parse(KeysExplain);
    if (args.name !== undefined && flags['key-file'] !== undefined) {
      throw new SvcError('invalid_input', 'NAME and --key-file are two ways to give one key.', {
        hint: 'Leave one of them out.',
      });
    }
    const terminal = this.terminal(flags);
    const { backend, workspace, key } =
      args.name === undefined
        ? await identified(flags, { keyFile: flags['key-file'], terminal })
        : await namedIn(await tenancyOf(flags), args.name);
    const state = (await backend.send(workspaceStateQuery, { id: workspace.id })).workspace;
    const [roles, skills, tools, mcpServers] = await Promise.all([
      fetchRoles(backend, workspace.id),
      fetchSkills(backend, workspace.id),
      fetchWorkspaceTools(backend, workspace.id),
      fetchServers(backend, workspace.id),
    ]);
    const suspended = state?.suspended ?? false;
    const explanation = explainKey({
      workspace: { name: workspace.name, suspended },
      key,
      roles,
      skills,
      tools,
      mcpServers,
    });
    terminal.json(explanation);
    terminal.result(describeExplanation(explanation, terminal));
  }
}

interface Found extends Tenancy {
  readonly key: Key;
}

async function namedIn(tenancy: Tenancy, name: string): Promise<Found> {
  return { ...tenancy, key: keyNamed(await fetchKeys(tenancy.backend, tenancy.workspace.id), name) };
}

/** A key that the person holds leads to its own workspace. */
async function identified(
  flags: SharedFlags,
  { keyFile, terminal }: { readonly keyFile: string | undefined; readonly terminal: Terminal },
): Promise<Found> {
  const backend = await connectToBackend(installationOf(flags));
  const secret = await readKey({ keyFile, env: environment, terminal });
  const fault = faultInText(secret);
  if (fault !== null) throw new SvcError(fault.code, fault.message, { hint: fault.hint });
  const { identifyKey } = await backend.send(identifyKeyQuery, { secret: secret.reveal() });
  if (identifyKey !== null) return { backend, ...identifyKey };
  throw new SvcError('unauthenticated', 'This platform does not know the key.', {
    hint: 'Create a new one: svc keys create NAME',
  });
}
