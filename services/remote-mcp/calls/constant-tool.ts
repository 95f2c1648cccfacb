import { constantTools } from '../../contracts/constant-tools.ts';
import type { CancelSignal } from '../../kit/cancellation.ts';
import { chooseRole } from '../tools/choose-role.ts';
import { listSkills } from '../tools/list-skills.ts';
import { loadSkill } from '../tools/load-skill.ts';
import { readSkillFile } from '../tools/read-skill-file.ts';
import type { ToolText } from '../tools/tool-text.ts';
import type { CallParts, CallView } from './call.ts';

interface ConstantCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: CancelSignal;
}

/** Calls one of the tools that remote-mcp itself offers. */
export async function callConstantTool(
  { sessions, readFile }: Pick<CallParts, 'sessions' | 'readFile'>,
  view: CallView,
  { name, args, signal }: ConstantCall,
): Promise<ToolText> {
  switch (name) {
    case constantTools.loadSkill:
      return await loadSkill(view, args.skill, sessions);
    case constantTools.readSkillFile:
      return await readSkillFile(view, args, { readFile, signal });
    case constantTools.activateRole:
      return await chooseRole(view, { role: args.role, active: true }, sessions);
    case constantTools.deactivateRole:
      return await chooseRole(view, { role: args.role, active: false }, sessions);
    default:
      return listSkills(view, args);
  }
}
