import { isAtLeast } from '../../../contracts/member-roles.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  type InvitationsQuery,
  inviteMemberMutation,
  withdrawInvitationMutation,
} from '../../graphql/generated/operations.ts';
import { useIsExpired } from '../invitation-expiry.tsx';

export type Invitation = NonNullable<InvitationsQuery['workspace']>['invitations']['nodes'][number];

/** An invitation that was not accepted yet: it is sent again, or withdrawn. */
export function OpenInvitation({
  invitation: { id, email, role, createdAt, expiresAt },
  onClose,
}: {
  readonly invitation: Invitation;
  readonly onClose: () => void;
}) {
  const { workspace, role: own } = usePlace();
  const isExpired = useIsExpired(expiresAt);
  const resend = useAction(async () => {
    await send(inviteMemberMutation, { workspace: workspace.id, input: { email, role } });
    showToast(`${email} gets a new link. The one before no longer works.`);
    onClose();
  });
  const withdraw = useAction(async () => {
    await send(withdrawInvitationMutation, { workspace: workspace.id, id });
    showToast(`The invitation of ${email} was withdrawn.`);
    onClose();
  });
  return (
    <Dialog title="Invitation" onClose={onClose}>
      <div className="grid gap-4">
        <Facts>
          <Fact name="E-mail">{email}</Fact>
          <Fact name="Role">{role}</Fact>
          <Fact name="Sent">
            <RelativeTime at={createdAt} />
          </Fact>
          <Fact name={isExpired ? 'Expired' : 'Expires'}>
            <RelativeTime at={expiresAt} />
          </Fact>
        </Facts>
        {isExpired && <p className="text-13">The link no longer works. Another one is valid for seven days.</p>}
        <ErrorLine error={resend.error ?? withdraw.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="dangerous" onClick={withdraw.run} isBusy={withdraw.isBusy}>
            Withdraw
          </Button>
          {isAtLeast(own, role) && (
            <Button look="primary" onClick={resend.run} isBusy={resend.isBusy}>
              Send again
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
