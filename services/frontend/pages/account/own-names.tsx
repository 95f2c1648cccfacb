import { useState } from 'react';
import { parseEmail } from '../../../contracts/email-address.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { changeNameMutation, sendAddressLinkMutation } from '../../graphql/generated/operations.ts';
import { useRead } from '../../graphql/use-read.ts';
import { readWays } from '../../graphql/ways.ts';
import { PersonNameField } from '../person-name-field.tsx';
import { Part } from '../section.tsx';

/** The name and the address of the person. */
export function OwnNames({ name, email }: { readonly name: string; readonly email: string }) {
  return (
    <>
      <Part title="Name">
        <Rename key={name} present={name} />
      </Part>
      <Part title="E-mail address">
        <Address key={email} present={email} />
      </Part>
    </>
  );
}

function Rename({ present }: { readonly present: string }) {
  const [name, setName] = useState(present);
  const rename = useAction(async () => {
    await send(changeNameMutation, { name: name.trim() });
    showToast(`Others see you as ${name.trim()}.`);
  });
  return (
    <Form onSubmit={rename.run} className="grid max-w-question gap-4">
      <PersonNameField value={name} onText={setName} />
      <ErrorLine error={rename.error} />
      <div>
        <Button type="submit" disabled={name.trim() === present} isBusy={rename.isBusy}>
          Save name
        </Button>
      </div>
    </Form>
  );
}

function Address({ present }: { readonly present: string }) {
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { data: ways } = useRead('', readWays);
  const ask = useAction(async () => {
    setSentTo(null);
    await send(sendAddressLinkMutation, { email: email.trim() });
    setSentTo(email.trim());
  });
  return (
    <Form onSubmit={ask.run} className="grid max-w-question gap-4">
      <p>
        You sign in as <strong className="break-all font-medium">{present}</strong>.
      </p>
      <Field
        label="New address"
        type="email"
        name="new-email"
        autoComplete="email"
        hint="A link goes there. Your account keeps its address until you open the link."
        value={email}
        onText={setEmail}
        rule={parseEmail}
      />
      <ErrorLine error={ask.error} />
      <div>
        <Button type="submit" isBusy={ask.isBusy}>
          Send link
        </Button>
      </div>
      {sentTo !== null && (
        <p role="status" className="break-words text-13 text-quiet">
          {ways?.mail === false
            ? `This platform sends no mail: an operator finds the link for ${sentTo} in the log of the backend.`
            : `A link is on its way to ${sentTo}. Open it in this browser, within an hour.`}
        </p>
      )}
    </Form>
  );
}
