import { useEffect, useState } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { List } from '../../components/list.tsx';
import { Moment } from '../../components/moment.tsx';
import {
  type InvitationsQuery,
  invitationsQuery,
  type MembersQuery,
  membersQuery,
} from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { InvitationExpiry } from '../invitation-expiry.tsx';
import { PageHead } from '../page-head.tsx';
import { type Invitation, OpenInvitation } from '../sign-in/open-invitation.tsx';
import { InvitePeople } from './invite-people.tsx';
import { MemberPanel } from './member-panel.tsx';
import { MemberState } from './member-state.tsx';
import { isAgent, type Member } from './member-words.ts';

const columns: readonly Column<Member>[] = [
  {
    title: 'Name',
    cell: ({ person }) => person.name,
    sortBy: ({ person }) => person.name,
    isTitle: true,
  },
  {
    title: 'E-mail',
    cell: ({ person }) => <span className="text-quiet">{person.email}</span>,
    sortBy: ({ person }) => person.email,
    share: 'wide',
  },
  { title: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role, share: 'narrow' },
  {
    title: 'State',
    cell: ({ suspended }) => <MemberState isSuspended={suspended} />,
    sortBy: ({ suspended }) => (suspended ? 0 : 1),
  },
  {
    title: 'Last sign-in',
    cell: ({ lastSignedInAt }) => <Moment at={lastSignedInAt} otherwise="never" />,
    sortBy: ({ lastSignedInAt }) => lastSignedInAt ?? 0,
    isLeftOutOnPhone: true,
  },
  {
    title: 'Keys and agents',
    cell: ({ keys }) => <KeyCounts keys={keys} />,
    sortBy: ({ keys }) => keys.length,
    isLeftOutOnPhone: true,
  },
];

const invitationColumns: readonly Column<Invitation>[] = [
  { title: 'E-mail', cell: ({ email }) => email, sortBy: ({ email }) => email, isTitle: true, share: 'wide' },
  { title: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role },
  {
    title: 'Sent',
    cell: ({ createdAt }) => <Moment at={createdAt} otherwise="" />,
    sortBy: ({ createdAt }) => createdAt,
    isLeftOutOnPhone: true,
  },
  {
    title: 'Expires',
    cell: ({ expiresAt }) => <InvitationExpiry at={expiresAt} />,
    sortBy: ({ expiresAt }) => expiresAt,
  },
];

/** The people of the workspace, and those who were invited. Only owners and admins see them. */
export function MembersPage() {
  const { mayConfigure, role } = usePlace();
  if (mayConfigure) return <People />;
  return (
    <>
      <PageHead title="Members" about={`Your role here is ${role}.`} />
      <EmptyState title="Owners and admins see the members">
        {`The role ${role} does not show who else is in the workspace. Ask an owner or an admin to invite somebody, or to change your role.`}
      </EmptyState>
    </>
  );
}

function People() {
  const { workspace } = usePlace();
  const [{ panel, add }, show] = useShown('/w/$workspace/settings/members');
  useShortcuts({ c: () => show({ add: true }) });
  const [invitationId, setInvitation] = useState<string | null>(null);
  const variables = { workspace: workspace.id };
  const members = usePages({
    ...{ operation: membersQuery, variables },
    pageOf: (answer: MembersQuery) => answer.workspace?.members ?? null,
  });
  const invitations = usePages({
    ...{ operation: invitationsQuery, variables },
    pageOf: (answer: InvitationsQuery) => answer.workspace?.invitations ?? null,
  });
  // A panel needs all members: those who may get keys, and whether somebody else is an owner.
  const { hasMore, loadMore } = members;
  useEffect(() => {
    if (panel !== undefined && hasMore) loadMore();
  }, [panel, hasMore, loadMore]);
  const error = members.error ?? invitations.error;
  const retry = () => {
    members.retry();
    invitations.retry();
  };
  const invited = invitations.rows?.find(({ id }) => id === invitationId) ?? null;
  return (
    <>
      <PageHead
        title="Members"
        about={members.rows === null ? 'People of this workspace.' : countsOf(members.rows, hasMore)}
        action={
          <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
            Invite people
          </Button>
        }
      />
      <List
        label="Members"
        of={{ ...members, error, retry }}
        columns={columns}
        openId={panel}
        onOpen={({ id }) => show({ panel: id })}
      />
      {invitations.rows !== null && invitations.rows.length > 0 && (
        <section className="mt-8 grid gap-3">
          <h2 className="font-semibold text-16">Open invitations</h2>
          <DataTable
            label="Open invitations"
            columns={invitationColumns}
            rows={invitations.rows}
            onOpen={({ id }) => setInvitation(id)}
            openId={invitationId}
            hasMore={invitations.hasMore}
            onNeedMore={invitations.loadMore}
          />
        </section>
      )}
      {panel !== undefined && members.rows !== null && (
        <MemberPanel
          key={panel}
          id={panel}
          members={members.rows}
          isComplete={!hasMore}
          onClose={() => show({ panel: undefined })}
        />
      )}
      {invited !== null && <OpenInvitation invitation={invited} onClose={() => setInvitation(null)} />}
      {add === true && <InvitePeople onClose={() => show({ add: undefined }, true)} />}
    </>
  );
}

function KeyCounts({ keys }: Pick<Member, 'keys'>) {
  const agents = keys.filter(isAgent).length;
  const own = keys.length - agents;
  const counts = [
    ...(own === 0 ? [] : [`${own} ${own === 1 ? 'key' : 'keys'}`]),
    ...(agents === 0 ? [] : [`${agents} ${agents === 1 ? 'agent' : 'agents'}`]),
  ];
  return <span className="text-quiet">{counts.join(', ') || '–'}</span>;
}

function countsOf(rows: readonly Member[], hasMore: boolean): string {
  const suspended = rows.filter((row) => row.suspended).length;
  const all = `${rows.length} ${rows.length === 1 ? 'member' : 'members'}`;
  const counts = suspended === 0 ? all : `${all} · ${suspended} suspended`;
  return hasMore ? `${counts} of those loaded` : counts;
}
