import { type ReactNode, useState } from 'react';
import { checkPassword } from '../../../contracts/password-rule.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  type AccountQuery,
  accountQuery,
  endOtherSessionsMutation,
  endSessionMutation,
  removePasskeyMutation,
  setPasswordMutation,
} from '../../graphql/generated/operations.ts';
import { addPasskey } from '../../graphql/passkeys.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { PageHead } from '../page-head.tsx';
import { Part } from '../section.tsx';
import { OwnNames } from './own-names.tsx';
import { RenamePasskey } from './rename-passkey.tsx';

type Viewer = AccountQuery['viewer'];

/** Who the person is, and how and where the person signs in. */
export function AccountPage() {
  const { data, error, retry } = useOperation(accountQuery, {});
  return (
    <>
      <PageHead title="Account" about={data?.viewer.email ?? ''} />
      <Loaded value={data?.viewer ?? null} error={error} onRetry={retry}>
        {(viewer) => (
          <div className="grid max-w-text gap-10">
            {!viewer.hasWayToSignIn && (
              <p className="rounded-control border border-border bg-warn-soft px-4 py-3">
                Only a link signs you in so far. Set a password or add a passkey.
              </p>
            )}
            <OwnNames name={viewer.name} email={viewer.email ?? ''} />
            <Password viewer={viewer} />
            <Passkeys viewer={viewer} />
            <Sessions viewer={viewer} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Password({ viewer }: { readonly viewer: Viewer }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const rule = (text: string) => checkPassword(text, viewer.email ?? '');
  const save = useAction(async () => {
    await send(setPasswordMutation, { password, ...(viewer.hasPassword && current !== '' && { current }) });
    setCurrent('');
    setPassword('');
    showToast('The password is set. Your other browsers are signed out.');
  });
  return (
    <Part title="Password">
      <Form onSubmit={save.run} className="grid max-w-question gap-4">
        <input type="hidden" name="username" autoComplete="username" value={viewer.email ?? ''} />
        {viewer.hasPassword && (
          <Field
            label="Current password"
            type="password"
            autoComplete="current-password"
            hint="Not needed within 15 minutes of a sign-in."
            value={current}
            onText={setCurrent}
          />
        )}
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="A sentence that only you know is best."
          value={password}
          onText={setPassword}
          rule={rule}
        />
        <ErrorLine error={save.error} />
        <div>
          <Button type="submit" isBusy={save.isBusy}>
            {viewer.hasPassword ? 'Change password' : 'Set password'}
          </Button>
        </div>
      </Form>
    </Part>
  );
}

function Passkeys({ viewer }: { readonly viewer: Viewer }) {
  const add = useAction(() => addPasskey(`Passkey ${viewer.passkeys.length + 1}`));
  return (
    <Part title="Passkeys">
      {viewer.passkeys.length === 0 && (
        <p className="text-quiet">A passkey signs you in with your device, without a password.</p>
      )}
      <ul className="grid divide-y divide-border">
        {viewer.passkeys.map((passkey) => (
          <Entry
            key={passkey.id}
            title={passkey.name}
            about={
              passkey.lastUsedAt == null ? (
                'never used'
              ) : (
                <>
                  used <RelativeTime at={passkey.lastUsedAt} />
                </>
              )
            }
            verb="Remove"
            label={`Remove ${passkey.name}`}
            onAct={() => send(removePasskeyMutation, { id: passkey.id })}
          >
            <RenamePasskey id={passkey.id} name={passkey.name} />
          </Entry>
        ))}
      </ul>
      <ErrorLine error={add.error} />
      <div>
        <Button icon="key" isBusy={add.isBusy} onClick={add.run}>
          Add passkey
        </Button>
      </div>
    </Part>
  );
}

function Sessions({ viewer }: { readonly viewer: Viewer }) {
  const endOthers = useAction(() => send(endOtherSessionsMutation, {}));
  const others = viewer.sessions.filter(({ isCurrent }) => !isCurrent);
  return (
    <Part title="Where you are signed in">
      <ul className="grid divide-y divide-border">
        {viewer.sessions.map((session) => (
          <Entry
            key={session.id}
            title={session.device}
            about={
              session.isCurrent ? (
                'this browser'
              ) : (
                <>
                  used <RelativeTime at={session.lastUsedAt} />
                </>
              )
            }
            verb={session.isCurrent ? null : 'Sign out'}
            label={`Sign out ${session.device}`}
            onAct={() => send(endSessionMutation, { id: session.id })}
          />
        ))}
      </ul>
      <ErrorLine error={endOthers.error} />
      {others.length > 1 && (
        <div>
          <Button isBusy={endOthers.isBusy} onClick={endOthers.run}>
            Sign out everywhere else
          </Button>
        </div>
      )}
    </Part>
  );
}

interface EntryProps {
  readonly title: string;
  readonly about: ReactNode;
  /** Null: nothing can be done with it. */
  readonly verb: string | null;
  readonly label: string;
  readonly onAct: () => Promise<unknown>;
  /** Further actions. */
  readonly children?: ReactNode;
}

function Entry({ title, about, verb, label, onAct, children }: EntryProps) {
  const act = useAction(onAct);
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 py-1">
      <span className="min-w-0 break-words">{title}</span>
      <span className="flex-1 text-13 text-quiet">{about}</span>
      {children}
      {verb !== null && (
        <Button look="quiet" isBusy={act.isBusy} onClick={act.run} aria-label={label}>
          {verb}
        </Button>
      )}
      <ErrorLine error={act.error} />
    </li>
  );
}
