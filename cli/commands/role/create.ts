import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { createRoleMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand, workspaceFlag } from '../../command.ts';
import { tenancyOf } from '../../objects/platform.ts';
import { fetchSkillNames, skillNamed } from '../../objects/skills.ts';

export default class RoleCreate extends SvcCommand {
  static override summary = 'Create a role: a set of skills that agents may use.';
  static override aliases = ['roles:create'];
  static override examples = [
    { description: 'A role with one skill', command: '<%= config.bin %> role create Reader --skill read-documents' },
    {
      description: 'With several, in another workspace',
      command: '<%= config.bin %> role create Support --skill tickets --skill mail --workspace Acme',
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
    workspace: workspaceFlag('Workspace it belongs to.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RoleCreate);
    const terminal = this.terminal(flags);
    const { backend, workspace } = await tenancyOf(flags);
    const known = flags.skill === undefined ? [] : await fetchSkillNames({ backend, workspace });
    const skills = (flags.skill ?? []).map((name) => skillNamed(known, name));
    const answer = await backend.send(createRoleMutation, {
      workspace: workspace.id,
      input: { name: args.name, description: flags.description, skills: skills.map((skill) => skill.id) },
    });
    const { id, name, enabled } = answer.createRole;
    terminal.json({ id, name, active: enabled, skills: skills.map((skill) => ({ id: skill.id, name: skill.name })) });
    terminal.result(
      `Created role ${name}${skills.length === 0 ? '' : ` with ${skills.map((skill) => skill.name).join(', ')}`}.`,
    );
    terminal.talk('Next, a key for an agent: svc keys create NAME');
  }
}
