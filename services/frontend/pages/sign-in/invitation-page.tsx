import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ShownInvitation } from '../../../contracts/browser-answers.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine, ErrorState } from '../../components/error-state.tsx';
import { Form } from '../../components/form.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useAction } from '../../components/use-action.ts';
import { postAccount, refreshSession } from '../../graphql/account.ts';
import { useRead } from '../../graphql/use-read.ts';
import { PersonNameField } from '../person-name-field.tsx';
import { Question } from '../question.tsx';
import { enter } from './enter.ts';
import { useLinkToken } from './use-link-token.ts';

/** A person who was invited joins a workspace. */
export function InvitationPage() {
  const token = useLinkToken() ?? '';
  return <Invited key={token} token={token} />;
}

function Invited({ token }: { readonly token: string }) {
  const { data: invitation, error } = useRead(token, () => postAccount('invitation', { token }));
  if (error !== null) {
    return (
      <Question title="Invitation">
        <ErrorState error={error} />
      </Question>
    );
  }
  if (invitation === null) {
    return (
      <Question title="Invitation">
        <Skeleton lines={3} label="Reading the invitation" />
      </Question>
    );
  }
  return <Join token={token} invitation={invitation} />;
}

function Join({ token, invitation }: { readonly token: string; readonly invitation: ShownInvitation }) {
  const { workspace, email, role, hasAccount } = invitation;
  const [name, setName] = useState('');
  const join = useAction(async () => {
    // The session proves the person, and its access token may have expired.
    if (hasAccount) await refreshSession(performance.now());
    await postAccount('invitation/accept', { token, ...(hasAccount ? {} : { name }) });
    enter('/');
  });
  return (
    <Question title={`Join ${workspace}`}>
      <p>
        <strong className="break-all font-medium">{email}</strong> becomes a member with the role {role}.
      </p>
      <Form onSubmit={join.run} className="grid gap-4">
        {!hasAccount && <PersonNameField value={name} onText={setName} />}
        <ErrorLine error={join.error} />
        <Button look="primary" type="submit" isBusy={join.isBusy}>
          Join the workspace
        </Button>
      </Form>
      {hasAccount && (
        <p className="text-13 text-quiet">
          This address has an account.{' '}
          <Link to="/sign-in" className="text-accent hover:underline">
            Sign in
          </Link>{' '}
          with it, then open the link of the mail again.
        </p>
      )}
    </Question>
  );
}
