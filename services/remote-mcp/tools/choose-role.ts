import { withRole } from '../sessions/disclosure.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { names } from './explain.ts';
import { failed, type ToolText, told } from './tool-text.ts';
import { findRole, isOfKey, type View } from './view.ts';

/** Makes a role of the key active in this session, or inactive. */
export async function chooseRole(
  view: View & { readonly session: Session },
  { role: nameOrId, active }: { readonly role: unknown; readonly active: boolean },
  sessions: Pick<Sessions, 'change'>,
): Promise<ToolText> {
  const role = typeof nameOrId === 'string' ? findRole(view, nameOrId) : null;
  if (role === null) {
    const own = view.catalogue.roles.filter((other) => isOfKey(view.principal, other));
    return failed(
      `There is no such role for this key. Its roles: ${own.length === 0 ? 'none' : names(own.slice(0, 100))}.`,
    );
  }
  if (active && !role.enabled) return failed(`The role "${role.name}" is disabled by an administrator.`);
  await sessions.change(view.session, (present) => ({
    ...present,
    disclosure: withRole(present.disclosure, role.id, active),
  }));
  return told(
    active
      ? `The role "${role.name}" is active. list_skills shows its skills.`
      : `The role "${role.name}" is not active any more in this session.`,
  );
}
