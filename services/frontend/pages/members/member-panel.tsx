import { type FormEvent, useState } from 'react';
import { isAtLeast, type MemberRole } from '../../../contracts/member-roles.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Moment } from '../../components/moment.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { updateMemberMutation } from '../../graphql/generated/operations.ts';
import { Section } from '../section.tsx';
import { LeaveWorkspace } from '../workspace/leave-workspace.tsx';
import { MemberState } from './member-state.tsx';
import {
  countKeys,
  isAgent,
  isOnlyOwner,
  type Member,
  type MemberKey,
  roleOptions,
  roleWords,
} from './member-words.ts';
import { RemoveMember } from './remove-member.tsx';

interface MemberPanelProps {
  readonly id: string;
  readonly members: readonly Member[];
  /** Whether these are all members. */
  readonly isComplete: boolean;
  readonly onClose: () => void;
}

/** Everything about one member, and what the person may do with it. */
export function MemberPanel({ id, members, isComplete, onClose }: MemberPanelProps) {
  const member = members.find((one) => one.id === id);
  return (
    <DetailsPanel
      title={member?.person.name ?? 'Member'}
      of={member}
      isAwaited={!isComplete}
      missing={`No member has the id "${id}". The member was removed or left, or the address is wrong.`}
      onClose={onClose}
    >
      {(found) => <Details member={found} members={members} isComplete={isComplete} onRemoved={onClose} />}
    </DetailsPanel>
  );
}

interface DetailsProps {
  readonly member: Member;
  readonly members: readonly Member[];
  readonly isComplete: boolean;
  readonly onRemoved: () => void;
}

function Details({ member, members, isComplete, onRemoved }: DetailsProps) {
  const { member: self, role: own } = usePlace();
  const isSelf = member.id === self;
  const isLastOwner = isComplete && isOnlyOwner(member.id, members);
  const mayChange = isAtLeast(own, member.role);
  const [keys, agents] = [member.keys.filter((key) => !isAgent(key)), member.keys.filter(isAgent)];
  return (
    <div className="grid gap-6">
      <div className="flex flex-wrap gap-x-6 gap-y-1">
        <MemberState isSuspended={member.suspended} />
        {isSelf && <span className="text-quiet">this is you</span>}
      </div>
      <Facts>
        <Fact name="E-mail">{member.person.email}</Fact>
        {(isLastOwner || !mayChange) && <Fact name="Role">{member.role}</Fact>}
        <Fact name="Last sign-in">
          <Moment at={member.lastSignedInAt} otherwise="never" />
        </Fact>
        <Fact name="Member since">
          <RelativeTime at={member.createdAt} />
        </Fact>
      </Facts>
      {isLastOwner ? (
        <p className="text-13 text-quiet">
          A workspace keeps an owner. Make another member an owner before you change this one.
        </p>
      ) : mayChange ? (
        <>
          <ChangeRole key={member.role} member={member} isSelf={isSelf} />
          <Actions member={member} members={members} isSelf={isSelf} onRemoved={onRemoved} />
        </>
      ) : (
        <p className="text-13 text-quiet">{`Only a member with the role ${member.role} can change this one.`}</p>
      )}
      <Section title="API keys">
        <KeyList keys={keys} otherwise="No API keys." />
      </Section>
      <Section title="Connected agents">
        <KeyList keys={agents} otherwise="No connected agents." />
      </Section>
    </div>
  );
}

function KeyList({ keys, otherwise }: { readonly keys: readonly MemberKey[]; readonly otherwise: string }) {
  if (keys.length === 0) return <p className="text-13 text-quiet">{otherwise}</p>;
  return (
    <ul className="grid max-h-64 gap-1 overflow-y-auto text-13">
      {keys.map(({ id, name, state, lastUsedAt }) => (
        <li key={id} className="flex flex-wrap justify-between gap-x-4">
          <span className="wrap-anywhere min-w-0">{name || 'replaced key'}</span>
          <span className="text-quiet">
            {state === 'expired' ? 'Expired' : <Moment at={lastUsedAt} otherwise="never used" />}
          </span>
        </li>
      ))}
    </ul>
  );
}

function ChangeRole({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) {
  const { workspace, role: own } = usePlace();
  const [role, setRole] = useState<MemberRole>(member.role);
  const setTo = (given: MemberRole, ifVersion: number | null) =>
    send(updateMemberMutation, { workspace: workspace.id, id: member.id, input: { role: given, ifVersion } });
  const change = useAction(async () => {
    await setTo(role, member.version);
    // A person who gave up a role cannot take it back.
    const undo = isSelf
      ? null
      : () => void setTo(member.role, null).catch(() => showToast('The role was not set back.'));
    showToast(`${member.person.email} has the role ${role}.`, undo);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role !== member.role) change.run();
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <SelectField label="Role" hint={roleWords[role]} value={role} options={roleOptions(own)} onValue={setRole} />
      {isSelf && role !== member.role && (
        <p className="text-13">You lose rights at once, and cannot take them back yourself.</p>
      )}
      <ErrorLine error={change.error} />
      <div>
        <Button type="submit" disabled={role === member.role} isBusy={change.isBusy}>
          Change role
        </Button>
      </div>
    </form>
  );
}

interface ActionsProps {
  readonly member: Member;
  readonly members: readonly Member[];
  readonly isSelf: boolean;
  readonly onRemoved: () => void;
}

function Actions({ member, members, isSelf, onRemoved }: ActionsProps) {
  const { workspace } = usePlace();
  const [asked, ask] = useState<'suspend' | 'remove' | 'leave' | null>(null);
  const { id, version, person } = member;
  const resume = useAction(async () => {
    const input = { suspended: false, ifVersion: version };
    await send(updateMemberMutation, { workspace: workspace.id, id, input });
    showToast(`${person.email} may use the workspace again.`);
  });
  const close = () => ask(null);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        {isSelf ? (
          <Button look="dangerous" onClick={() => ask('leave')}>
            Leave workspace…
          </Button>
        ) : (
          <>
            {member.suspended ? (
              <Button onClick={resume.run} isBusy={resume.isBusy}>
                Resume
              </Button>
            ) : (
              <Button onClick={() => ask('suspend')}>Suspend…</Button>
            )}
            <Button look="dangerous" onClick={() => ask('remove')}>
              Remove…
            </Button>
          </>
        )}
      </div>
      <ErrorLine error={resume.error} />
      {asked === 'suspend' && <Suspend member={member} onClose={close} />}
      {asked === 'remove' && <RemoveMember member={member} members={members} onRemoved={onRemoved} onClose={close} />}
      {asked === 'leave' && <LeaveWorkspace onClose={close} />}
    </div>
  );
}

/** It can be undone, so that a person only reads what stops. */
function Suspend({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const { id, version, person, keys } = member;
  const suspend = useAction(async () => {
    const input = { suspended: true, ifVersion: version };
    await send(updateMemberMutation, { workspace: workspace.id, id, input });
    onClose();
  });
  return (
    <FormDialog title={`Suspend ${person.name}`} verb="Suspend" action={suspend} look="danger" onClose={onClose}>
      <p className="wrap-anywhere">
        {`At once, ${person.email} cannot use ${workspace.name}: open pages close, and every request of an agent is refused with 403.`}
      </p>
      <Facts>
        <Fact name="Stops">{countKeys(keys)}</Fact>
        <Fact name="Stays">the role, the keys and the agents, for the day you resume the membership</Fact>
      </Facts>
    </FormDialog>
  );
}
