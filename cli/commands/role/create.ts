import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { toolRuleEffects } from '../../../services/contracts/tool-rules.ts';
import { createRoleMutation } from '../../../stack/client/generated/operations.ts';
import { allowMissingFlag, repeatedFlag, SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchSkillNames, skillNamed } from '../../objects/skills.ts';
import { checkToolRefs, parseToolRef } from '../../objects/tool-refs.ts';

export default class RoleCreate extends SvcCommand {
  static override summary = 'Create a role: a set of skills that agents may use.';
  static override aliases = ['roles:create'];
  static override examples = [
    { description: 'A role with one skill', command: '<%= config.bin %> role create Reader --skill read-documents' },
    {
      description: 'With several, in another workspace',
      command: '<%= config.bin %> role create Support --skill tickets --skill mail --workspace Acme',
    },
    {
      description: 'Without the tools that write',
      command: "<%= config.bin %> role create Clerk --skill support --deny 'mail/write_*'",
    },
  ];
  static override args = { name: Args.string({ description: 'Name of the role', required: true, name: 'NAME' }) };
  static override flags = {
    skill: Flags.string({
      summary: 'A skill by name or id; may be repeated.',
      helpValue: 'SKILL',
      multiple: true,
      multipleNonGreedy: true,
    }),
    description: Flags.string({ summary: 'What the role is for.', helpValue: 'TEXT', default: '' }),
    allow: repeatedFlag('A tool to allow; only those given pass. May be repeated.', 'MCPSERVER/TOOL'),
    deny: repeatedFlag('A tool to deny; * stands for any characters. May be repeated.', 'MCPSERVER/TOOL'),
    'read-only': Flags.boolean({ summary: 'Let only tools pass that their MCP servers describe as read-only.' }),
    'allow-missing': allowMissingFlag,
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RoleCreate);
    const terminal = this.terminal(flags);
    const refs = {
      allow: (flags.allow ?? []).map((text) => parseToolRef('--allow', text)),
      deny: (flags.deny ?? []).map((text) => parseToolRef('--deny', text)),
    };
    const { backend, workspace } = await tenancyOf(flags);
    const known = flags.skill === undefined ? [] : await fetchSkillNames({ backend, workspace });
    const skills = (flags.skill ?? []).map((name) => skillNamed(known, name));
    await checkToolRefs({ backend, workspace }, [...refs.allow, ...refs.deny], {
      allowMissing: flags['allow-missing'],
    });
    const rules = toolRuleEffects.flatMap((effect) => refs[effect].map((ref) => ({ effect, ...ref })));
    const answer = await backend.send(createRoleMutation, {
      workspace: workspace.id,
      input: {
        ...{ name: args.name, description: flags.description, skills: skills.map((skill) => skill.id) },
        ...{ readOnly: flags['read-only'], rules },
      },
    });
    const { id, name, enabled } = answer.createRole;
    terminal.json({ id, name, active: enabled, skills: skills.map((skill) => ({ id: skill.id, name: skill.name })) });
    terminal.result(
      `Created role ${name}${skills.length === 0 ? '' : ` with ${skills.map((skill) => skill.name).join(', ')}`}.`,
    );
    terminal.talk('Next, a key for an agent: svc keys create NAME');
  }
}
