import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { useAction } from '../../components/use-action.ts';
import { postAccount, refreshSession } from '../../graphql/account.ts';
import { Question } from '../question.tsx';
import { enter } from '../sign-in/enter.ts';
import { useLinkToken } from '../sign-in/use-link-token.ts';

/** A person opened the link that was sent to the new address of the account. */
export function ConfirmAddressPage() {
  const token = useLinkToken() ?? '';
  return <Confirm key={token} token={token} />;
}

function Confirm({ token }: { readonly token: string }) {
  const [email, setEmail] = useState<string | null>(null);
  const confirm = useAction(async () => {
    // The session proves the person, and its access token may have expired.
    await refreshSession(performance.now());
    setEmail((await postAccount('address', { token })).email);
  });
  if (email !== null) {
    return (
      <Question title="Your address is changed">
        <p>
          Your account has the address <strong className="break-all font-medium">{email}</strong> now. Sign in with it
          from now on.
        </p>
        <div>
          <Button look="primary" onClick={() => enter('/')}>
            Continue
          </Button>
        </div>
      </Question>
    );
  }
  return (
    <Question title="Confirm your new address">
      <p>This link was sent to the new address. Your account gets the address when you confirm it.</p>
      <ErrorLine error={confirm.error} />
      <div>
        <Button look="primary" isBusy={confirm.isBusy} onClick={confirm.run}>
          Confirm the address
        </Button>
      </div>
    </Question>
  );
}
