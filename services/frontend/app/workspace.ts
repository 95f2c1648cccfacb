import { createContext, useContext } from 'react';
import { findMemberRole, isAtLeast, type MemberRole } from '../../contracts/member-roles.ts';
import type { ViewerQuery } from '../graphql/generated/operations.ts';

export type Viewer = ViewerQuery['viewer'];
export type Membership = Viewer['memberships'][number];

export interface Place {
  readonly viewer: Viewer;
  readonly workspace: Membership['workspace'];
  /** The person as a member of it. */
  readonly member: Membership['id'];
  readonly role: MemberRole;
  /** Whether the person may change the configuration: owners and admins may. */
  readonly mayConfigure: boolean;
  /** Whether the person may change skills and roles: editors may, too. */
  readonly mayEdit: boolean;
}

export const PlaceContext = createContext<Place | null>(null);

/** The workspace of the shown place, and the person. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === null) throw new Error('This component is outside of a workspace.');
  return place;
}

export function placeOf(viewer: Viewer, { id, workspace, role: given }: Membership): Place {
  const role = findMemberRole(given) ?? 'viewer';
  const rights = { mayConfigure: isAtLeast(role, 'admin'), mayEdit: isAtLeast(role, 'editor') };
  return { viewer, workspace, member: id, role, ...rights };
}

const lastKey = 'workspace';

export function rememberWorkspace(id: string): void {
  try {
    localStorage.setItem(lastKey, id);
  } catch {
    // Without storage the first workspace opens.
  }
}

/** The workspace that was open last, or the first one. */
export function lastWorkspace({ memberships }: Viewer): Membership | null {
  const last = readLast();
  return memberships.find(({ workspace }) => workspace.id === last) ?? memberships[0] ?? null;
}

function readLast(): string | null {
  try {
    return localStorage.getItem(lastKey);
  } catch {
    return null;
  }
}
