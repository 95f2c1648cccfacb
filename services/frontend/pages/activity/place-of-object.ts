import type { Viewer } from '../../app/workspace.ts';

interface Entry {
  readonly action: string;
  readonly actor: string;
  readonly subject: string;
  readonly subjectKind: string;
}

/** The path below a workspace where the object of a change is shown; null if there is none. */
export function placeOfObject(
  { action, actor, subject, subjectKind }: Entry,
  viewer: Pick<Viewer, 'id'>,
): string | null {
  if (action === 'remove' || action === 'revoke') return null;
  const id = encodeURIComponent(subject);
  switch (subjectKind) {
    case 'mcpServer':
      return `/settings/mcp-servers?panel=${id}`;
    case 'skill':
      return `/skills/${id}`;
    case 'role':
      return `/roles?panel=${id}`;
    // The pages show people their own keys.
    case 'key':
      return actor === viewer.id ? `/profile/api-keys?panel=${id}` : null;
    default:
      return null;
  }
}
