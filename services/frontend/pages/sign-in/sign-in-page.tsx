import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { parseEmail } from '../../../contracts/email-address.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine, ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useAction } from '../../components/use-action.ts';
import { postAccount } from '../../graphql/account.ts';
import { shownErrorOf } from '../../graphql/shown-error.ts';
import { useRead } from '../../graphql/use-read.ts';
import { providerUrl, readWays, signInWithPasskey } from '../../graphql/ways.ts';
import { Question } from '../question.tsx';
import { enter } from './enter.ts';
import { refusedByProvider } from './refused-by-provider.ts';
import { useLinkToken } from './use-link-token.ts';

/** Signs a person in: by the link in the fragment of the address, or by one of the ways of this installation. */
export function SignInPage() {
  const { back, refused } = useSearch({ from: '/sign-in' });
  const token = useLinkToken();
  const [refusal, setRefusal] = useState(() => (refused === undefined ? null : refusedByProvider(refused)));
  const used = useRef<string>(null);
  useEffect(() => {
    // A link works once, and React runs effects twice in development.
    if (token === null || used.current === token) return;
    used.current = token;
    setRefusal(null);
    postAccount('link', { token }).then(
      () => enter(back),
      (thrown: unknown) => setRefusal(shownErrorOf(thrown)),
    );
  }, [token, back]);
  if (token !== null && refusal?.code === 'conflict') {
    return <ReplacePerson question={refusal.message} token={token} back={back} />;
  }
  if (token !== null && refusal === null) {
    return (
      <Question title="Signing you in">
        <Skeleton lines={2} label="Signing you in" />
      </Question>
    );
  }
  return (
    <Question title="Sign in">
      {refusal !== null && <ErrorState error={refusal} />}
      <WaysToSignIn back={back} />
    </Question>
  );
}

interface ReplacePersonProps {
  readonly question: string;
  readonly token: string;
  readonly back: string | undefined;
}

/** Somebody else is signed in in this browser. */
function ReplacePerson({ question, token, back }: ReplacePersonProps) {
  const replace = useAction(async () => {
    await postAccount('link', { token, replaces: true });
    enter(back);
  });
  return (
    <Question title="Sign in as another person?">
      <p className="break-words">{question}</p>
      <ErrorLine error={replace.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" isBusy={replace.isBusy} onClick={replace.run}>
          Sign in by the link
        </Button>
        <Button onClick={() => enter(back)}>Stay signed in</Button>
      </div>
    </Question>
  );
}

function WaysToSignIn({ back }: { readonly back: string | undefined }) {
  const { data: ways, error, retry } = useRead('', readWays);
  const passkey = useAction(async () => {
    await signInWithPasskey();
    enter(back);
  });
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  if (ways === null) return <Skeleton lines={3} />;
  return (
    <div className="grid gap-6">
      {ways.password && <PasswordForm back={back} />}
      {ways.mail && <LinkForm />}
      {(ways.passkeys || ways.provider !== null) && (
        <div className="grid gap-2">
          {ways.passkeys && (
            <Button icon="key" isBusy={passkey.isBusy} onClick={passkey.run}>
              Use a passkey
            </Button>
          )}
          <ErrorLine error={passkey.error} />
          {ways.provider !== null && (
            <Button
              onClick={() => window.location.assign(providerUrl(back))}
            >{`Continue with ${ways.provider.name}`}</Button>
          )}
        </div>
      )}
      <section className="grid gap-2 text-13">
        <p className="text-quiet">
          On the machine of the platform, this makes a link that signs you in. The link works once, within an hour.
        </p>
        <Snippet text="svc open" />
        <p className="text-quiet">
          <Link to="/connect" className="text-accent hover:underline">
            How to connect an agent
          </Link>
        </p>
      </section>
    </div>
  );
}

function PasswordForm({ back }: { readonly back: string | undefined }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useAction(async () => {
    await postAccount('password', { email, password });
    enter(back);
  });
  return (
    <Form onSubmit={signIn.run} className="grid gap-4">
      <Field
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onText={setEmail}
        rule={parseEmail}
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onText={setPassword}
      />
      <ErrorLine error={signIn.error} />
      <Button look="primary" type="submit" isBusy={signIn.isBusy}>
        Sign in
      </Button>
    </Form>
  );
}

/** For a person without a password, or who forgot it. */
function LinkForm() {
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const send = useAction(async () => {
    await postAccount('reset', { email });
    setSentTo(email);
  });
  return (
    <Form onSubmit={send.run} className="grid gap-4 border-border border-t pt-6">
      <Field
        label="E-mail for a sign-in link"
        type="email"
        name="link-email"
        autoComplete="email"
        required
        value={email}
        onText={setEmail}
        rule={parseEmail}
      />
      <ErrorLine error={send.error} />
      <Button type="submit" isBusy={send.isBusy}>
        Send me a sign-in link
      </Button>
      {sentTo !== null && (
        <p role="status" className="text-13 text-quiet">
          {`If ${sentTo} has an account, a link is on its way. It works once, within an hour.`}
        </p>
      )}
    </Form>
  );
}
