import { constantTools } from '../../../contracts/constant-tools.ts';
import type { RemoteMcp } from '../../context.ts';
import type { Session } from '../../sessions/session.ts';
import { chooseRole } from '../../tools/choose-role.ts';
import { listSkills } from '../../tools/list-skills.ts';
import { loadSkill } from '../../tools/load-skill.ts';
import { readSkillFile } from '../../tools/read-skill-file.ts';
import { formatToolText, type ToolText } from '../../tools/tool-text.ts';
import type { View } from '../../tools/view.ts';
import type { Params } from './message.ts';
import type { SessionRequest } from './session-request.ts';

interface ConstantCall {
  readonly view: View & { readonly session: Session };
  readonly name: string;
  readonly args: Params;
  readonly signal: AbortSignal;
}

/** Calls one of the tools that remote-mcp itself offers. */
export async function callConstantTool(
  platform: Pick<RemoteMcp, 'sessions' | 'listChanges' | 'readFile'>,
  { answer }: SessionRequest,
  call: ConstantCall,
): Promise<void> {
  const { session } = call.view;
  const before = session.disclosure;
  answer.result(formatToolText(await run(call, platform)));
  if (session.disclosure !== before) platform.listChanges.ofSession(session.id);
}

async function run(
  { view, name, args, signal }: ConstantCall,
  { sessions, readFile }: Pick<RemoteMcp, 'sessions' | 'readFile'>,
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
