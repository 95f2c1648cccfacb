import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { revokeRuntimeMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { requireConsent } from '../../consent.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchRuntimes, type Runtime, runtimeNamed } from '../../objects/runtimes.ts';
import { boundTo, fetchServers } from '../../objects/servers.ts';

export default class RuntimeRevoke extends SvcCommand {
  static override summary = 'Revoke a runtime. Its keys are refused and its connections end at once.';
  static override description = 'MCP servers stay bound to it. Registering the name again restores it with a new key.';
  static override aliases = ['runtimes:revoke'];
  static override examples = [
    { description: 'Revoke one after confirming', command: '<%= config.bin %> runtime revoke edge' },
    {
      description: 'In another workspace, from a script',
      command: '<%= config.bin %> runtime revoke edge --workspace Acme --yes',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    yes: Flags.boolean({ char: 'y', summary: 'Skip the question.' }),
    workspace: workspaceFlag('Workspace of the runtime.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RuntimeRevoke);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const runtime = runtimeNamed(await fetchRuntimes(backend, workspace.id), args.name);
    if (runtime.platform) throw ofThePlatform(runtime);
    const servers = boundTo(runtime.id, await fetchServers(backend, workspace.id));
    const bound = servers.map(({ name }) => name);
    const loss =
      bound.length === 0 ? 'No MCP server is bound to it.' : `Agents lose its MCP servers: ${bound.join(', ')}.`;
    if (!flags.yes) {
      if (terminal.interactive) terminal.talk(loss);
      await requireConsent(terminal, {
        question: `Revoke the runtime ${runtime.name}?`,
        unasked: `Revoking "${runtime.name}" must be confirmed. ${loss}`,
        declined: 'Nothing was revoked.',
      });
    }
    await backend.send(revokeRuntimeMutation, {
      ...{ workspace: workspace.id, id: runtime.id },
      ifUsedBy: servers.map(({ id }) => id),
    });
    terminal.json({ id: runtime.id, name: runtime.name, state: 'revoked', mcpServers: bound });
    terminal.result(`Revoked ${runtime.name}. ${loss}`);
    terminal.talk(`To register it again with a new key: svc runtime register ${shellWord(runtime.name)}`);
  }
}

function ofThePlatform({ name }: Runtime): SvcError {
  return new SvcError('forbidden', `The runtime "${name}" is the platform's own: it stops with the platform.`, {
    hint: 'Only registered runtimes can be revoked. List them: svc runtime list',
  });
}
