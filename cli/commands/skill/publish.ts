import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { inParallel } from '../../../stack/client/in-parallel.ts';
import { repeatedFlag, SvcCommand, workspaceFlag, yesFlag } from '../../command.ts';
import { agreeToRemoval } from '../../consent.ts';
import { addToEveryone, changeSkillsOf, everyone } from '../../launch/share.ts';
import { type Tenancy, tenancyOf } from '../../objects/platform.ts';
import { getRole } from '../../objects/roles.ts';
import { getSkillParts, type SkillParts } from '../../objects/skills.ts';
import type { Terminal } from '../../output/terminal.ts';

export default class SkillPublish extends SvcCommand {
  static override summary = 'Let agents use a skill: put it into a role. With --draft, take it out of all roles.';
  static override description = 'A skill in no role is a draft: no agent sees it. Agents see the change at once.';
  static override aliases = ['skills:publish'];
  static override examples = [
    { description: 'To all agents, by the role Everyone', command: '<%= config.bin %> skill publish echo' },
    { description: 'To agents with one role', command: '<%= config.bin %> skill publish echo --role Reader' },
    { description: 'Hide it from all agents', command: '<%= config.bin %> skill publish echo --draft' },
  ];
  static override args = { name: Args.string({ description: 'Name or id', required: true, name: 'NAME' }) };
  static override flags = {
    role: repeatedFlag('Role to put it into. May be repeated. Default: Everyone, which is made when missing.', 'ROLE', [
      'draft',
    ]),
    draft: Flags.boolean({ summary: 'Take it out of all its roles.' }),
    yes: yesFlag,
    workspace: workspaceFlag('Workspace of the skill.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SkillPublish);
    const terminal = this.terminal(flags);
    const tenancy = await tenancyOf(flags);
    const skill = await getSkillParts(tenancy, args.name);
    if (flags.draft) {
      await withdraw(tenancy, skill, { terminal, yes: flags.yes });
      const changed = skill.roles.map(({ name }) => name);
      terminal.json({ id: skill.id, name: skill.name, published: false, roles: [], changed });
      terminal.result(
        changed.length === 0
          ? `Nothing to change: the skill ${skill.name} is in no role.`
          : `The skill ${skill.name} is a draft: no agent sees it.`,
      );
      return;
    }
    const changed = await publish(tenancy, skill.id, flags.role);
    const { roles } = await getSkillParts(tenancy, skill.id);
    const names = roles.map(({ name }) => name);
    terminal.json({ id: skill.id, name: skill.name, published: true, roles: names, changed });
    terminal.result(
      changed.length === 0
        ? `Nothing to change: the skill ${skill.name} is in ${oneLine(names.join(', '))}.`
        : `Published skill ${skill.name} in ${oneLine(changed.join(', '))}.`,
    );
    terminal.talk('Keys that are limited to other roles do not see it. Show what a key sees: svc keys explain KEY');
  }
}

/** The roles that did not have the skill. All of them are looked up before one is changed. */
async function publish(tenancy: Tenancy, skill: string, given: readonly string[] | undefined): Promise<string[]> {
  if (given === undefined) return (await addToEveryone(tenancy, skill)) ? [everyone] : [];
  const roles = await inParallel(given, (name) => getRole(tenancy, name));
  const changed: string[] = [];
  for (const { id, name } of roles) if (await changeSkillsOf(tenancy, id, { add: skill })) changed.push(name);
  return changed;
}

async function withdraw(
  tenancy: Tenancy,
  { id, name, roles }: SkillParts,
  { terminal, yes }: { readonly terminal: Terminal; readonly yes: boolean },
): Promise<void> {
  await agreeToRemoval(terminal, {
    subject: `the skill "${name}" from its roles`,
    affected: roles.map((role) => `The role "${role.name}" loses it.`),
    yes,
  });
  for (const { id: role } of roles) await changeSkillsOf(tenancy, role, { remove: id });
  const [left] = (await getSkillParts(tenancy, id)).roles;
  if (left === undefined) return;
  throw new SvcError('conflict', `Meanwhile the role "${left.name}" got the skill "${name}" too, and has it.`, {
    hint: `Take it out of that role, too: svc skill publish ${name} --draft --yes`,
  });
}
