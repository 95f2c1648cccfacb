import * as Args from '@oclif/core/args';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { shellWord } from '../../../services/contracts/shell-word.ts';
import { refsOfRules } from '../../../stack/apply/plan-changes.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getRole, type RoleDetails } from '../../objects/roles.ts';
import { facts } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class RoleShow extends SvcCommand {
  static override summary = 'Show one role: its skills, its tool rules, and the keys that are limited to it.';
  static override aliases = ['roles:show'];
  static override examples = [
    { description: 'Show one', command: '<%= config.bin %> role show Reader' },
    { description: 'For a script', command: '<%= config.bin %> role show Reader --json' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = { workspace: workspaceFlag('Workspace of the role.') };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RoleShow);
    const terminal = this.terminal(flags);
    const role = await getRole(await tenancyOf(flags), args.name);
    const { enabled, keys, readOnly, rules: _, ...rest } = role;
    terminal.json({
      ...{ ...rest, active: enabled, readOnly },
      ...{ allow: refsOfRules(role, 'allow'), deny: refsOfRules(role, 'deny') },
      keys: keys.map(({ id, name }) => ({ id, name })),
    });
    terminal.result(describeRole(role, terminal));
  }
}

function describeRole(role: RoleDetails, terminal: Terminal): string {
  const { id, name, description, enabled, skills, keys, readOnly } = role;
  const [allow, deny] = [refsOfRules(role, 'allow'), refsOfRules(role, 'deny')];
  const skillNames = skills.map((skill) =>
    skill.available ? skill.name : `${skill.name} (${terminal.paint('red', 'unavailable')})`,
  );
  const limited = keys.map((key) => key.name).join(', ');
  return facts(
    [
      ['name', name],
      ['id', id],
      ...(description === '' ? [] : [['description', oneLine(description)] as const]),
      ['state', enabled ? terminal.paint('green', 'enabled') : terminal.paint('grey', 'disabled')],
      ['skills', skillNames.join(', ') || `none. Add one: svc role update ${shellWord(name)} --add-skill SKILL`],
      ...(readOnly ? [['tools', 'only those that their MCP servers describe as read-only'] as const] : []),
      ...(allow.length > 0 ? [['allow', oneLine(allow.join(', '))] as const] : []),
      ...(deny.length > 0 ? [['deny', oneLine(deny.join(', '))] as const] : []),
      [
        'keys',
        limited === '' ? 'all keys without a list of roles' : `${limited}, and all keys without a list of roles`,
      ],
    ],
    terminal,
  );
}
