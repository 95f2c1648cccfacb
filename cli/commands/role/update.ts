import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { suggestion } from '../../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { refsOfRules } from '../../../stack/apply/plan-changes.ts';
import { updateRoleMutation } from '../../../stack/client/generated/operations.ts';
import { allowMissingFlag, repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { changedSet, fieldsThatDiffer, requireChange, tellChanged } from '../../objects/changes.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { getRole } from '../../objects/roles.ts';
import { changeRules, parseRuleChange } from '../../objects/rule-changes.ts';
import { fetchSkillNames, skillNamed } from '../../objects/skills.ts';
import { checkToolRefs } from '../../objects/tool-refs.ts';

const toolValue = 'MCPSERVER/TOOL';

export default class RoleUpdate extends SvcCommand {
  static override summary = 'Change a role: its name, description, skills or tool rules, or disable it.';
  static override description = 'Keys keep the role. Agents see the change at once.';
  static override aliases = ['roles:update'];
  static override examples = [
    { description: 'Add a skill', command: '<%= config.bin %> role update Reader --add-skill read-mail' },
    {
      description: 'Take the role from all agents for a while',
      command: '<%= config.bin %> role update Reader --disable',
    },
    {
      description: 'Deny a tool of its skills',
      command: '<%= config.bin %> role update Reader --add-deny mail/write_file',
    },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    name: Flags.string({ summary: 'New name.', helpValue: 'NAME' }),
    description: Flags.string({ summary: 'What the role is for.', helpValue: 'TEXT' }),
    'add-skill': repeatedFlag('A skill to add, by name or id. May be repeated.', 'SKILL'),
    'remove-skill': repeatedFlag('A skill to remove, by name or id. May be repeated.', 'SKILL'),
    skill: repeatedFlag('A skill; those given replace all skills. May be repeated.', 'SKILL', [
      'add-skill',
      'remove-skill',
    ]),
    'add-allow': repeatedFlag('A tool to allow; with any, only allowed tools pass. May be repeated.', toolValue),
    'remove-allow': repeatedFlag('A tool or pattern to allow no longer. May be repeated.', toolValue),
    allow: repeatedFlag('A tool; those given replace all allowed tools. May be repeated.', toolValue, [
      'add-allow',
      'remove-allow',
    ]),
    'add-deny': repeatedFlag('A tool to deny; * stands for any characters. May be repeated.', toolValue),
    'remove-deny': repeatedFlag('A tool or pattern to deny no longer. May be repeated.', toolValue),
    deny: repeatedFlag('A tool; those given replace all denied tools. May be repeated.', toolValue, [
      'add-deny',
      'remove-deny',
    ]),
    'read-only': Flags.boolean({
      summary: 'Let only tools pass that their MCP servers describe as read-only.',
      allowNo: true,
    }),
    'allow-missing': allowMissingFlag,
    enable: Flags.boolean({ summary: 'Give the role to agents again.', exclusive: ['disable'] }),
    disable: Flags.boolean({ summary: 'Take the role from all agents, and keep it.' }),
    workspace: workspaceFlag('Workspace of the role.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RoleUpdate);
    const terminal = this.terminal(flags);
    const { name, description, skill, enable, disable, 'add-skill': add, 'remove-skill': remove } = flags;
    const { allow, 'add-allow': addAllow, 'remove-allow': removeAllow } = flags;
    const { deny, 'add-deny': addDeny, 'remove-deny': removeDeny } = flags;
    const readOnly = flags['read-only'];
    requireChange({
      ...{ name, description, 'add-skill': add, 'remove-skill': remove, skill, enable, disable },
      ...{ 'add-allow': addAllow, 'remove-allow': removeAllow, allow },
      ...{ 'add-deny': addDeny, 'remove-deny': removeDeny, deny },
      'read-only': readOnly === undefined ? undefined : 'given',
    });
    const wantedRules = {
      allow: parseRuleChange('allow', { replace: allow, add: addAllow, remove: removeAllow }),
      deny: parseRuleChange('deny', { replace: deny, add: addDeny, remove: removeDeny }),
    };
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const role = await getRole(tenancy, args.name);
    const known =
      skill === undefined && add === undefined && remove === undefined
        ? []
        : await fetchSkillNames({ backend, workspace });
    const namesOf = (given: readonly string[] | undefined) => given?.map((one) => skillNamed(known, one).name);
    const before = role.skills.map((one) => one.name).sort();
    const skills = changedSet(
      before,
      { replace: namesOf(skill), add: namesOf(add), remove: namesOf(remove) },
      (absent) =>
        new SvcError('not_found', `The role "${role.name}" does not have the skill "${absent}".`, {
          hint: before.length === 0 ? 'It has no skills.' : suggestion(absent, before),
        }),
    );
    const enabled = enable ? true : disable ? false : undefined;
    const { added, rules, ...refs } = changeRules(role, wantedRules);
    const refsBefore = { allow: refsOfRules(role, 'allow'), deny: refsOfRules(role, 'deny') };
    const after = { name, description: description?.trim(), skills, enabled, readOnly, ...refs };
    const changed = fieldsThatDiffer({ ...role, skills: before, ...refsBefore }, after);
    if (changed.length > 0) {
      await checkToolRefs(tenancy, added, { allowMissing: flags['allow-missing'] });
      const ids = skills?.map((one) => skillNamed(known, one).id);
      await backend.send(updateRoleMutation, {
        workspace: workspace.id,
        id: role.id,
        input: { name, description, enabled, skills: ids, readOnly, rules, ifVersion: role.version },
      });
    }
    if (refsBefore.allow.length > 0 && refs.allow?.length === 0) {
      terminal.warn('The role allows every tool of its skills now, except denied ones.');
    }
    tellChanged(terminal, { kind: 'role', id: role.id, name: name ?? role.name, changed });
  }
}
