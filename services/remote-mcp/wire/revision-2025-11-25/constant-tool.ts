import { constantTools } from '../../../contracts/constant-tools.ts';
import type { RemoteMcp } from '../../context.ts';
import type { Session } from '../../sessions/session.ts';
import { chooseRole } from '../../tools/choose-role.ts';
import { listSkills } from '../../tools/list-skills.ts';
import { loadSkill } from '../../tools/load-skill.ts';
import { formatToolText, type ToolText } from '../../tools/tool-text.ts';
import type { View } from '../../tools/view.ts';
import type { Params } from './message.ts';
import type { SessionRequest } from './session-request.ts';

interface ConstantCall {
  readonly view: View & { readonly session: Session };
  readonly name: string;
  readonly args: Params;
}

/** Calls one of the tools that remote-mcp itself offers. */
export async function callConstantTool(
  { sessions, listChanges }: Pick<RemoteMcp, 'sessions' | 'listChanges'>,
  { answer }: SessionRequest,
  call: ConstantCall,
): Promise<void> {
  const { session } = call.view;
  const before = session.disclosure;
  answer.result(formatToolText(await run(call, sessions)));
  if (session.disclosure !== before) listChanges.ofSession(session.id);
}

async function run({ view, name, args }: ConstantCall, sessions: RemoteMcp['sessions']): Promise<ToolText> {
  switch (name) {
    case constantTools.loadSkill:
      return await loadSkill(view, args.skill, sessions);
    case constantTools.activateRole:
      return await chooseRole(view, { role: args.role, active: true }, sessions);
    case constantTools.deactivateRole:
      return await chooseRole(view, { role: args.role, active: false }, sessions);
    default:
      return listSkills(view, args);
  }
}
