import { useState } from 'react';
import type { KeyDisclosure } from '../../../contracts/key-disclosure.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { updateKeyMutation } from '../../graphql/generated/operations.ts';
import { onPage } from '../conflict-hint.ts';
import { keyNameRule } from './create-key.tsx';
import { DisclosureChoice } from './disclosure-choice.tsx';
import { ExpiryField } from './expiry-field.tsx';
import { type Expiry, momentOf } from './key-expiry.ts';
import type { OwnKey } from './own-keys.ts';
import { type ChosenRole, RoleChoice } from './role-choice.tsx';

/** What a person has changed and not saved yet. */
interface Draft {
  /** That of the key when the person began. */
  readonly version: number;
  readonly name?: string;
  readonly roles?: readonly ChosenRole[] | null;
  readonly disclosure?: KeyDisclosure;
  readonly expiry?: Expiry | null;
}

const exactDay = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** What can be changed of a key, or of a connected agent: that has the name of its client, and no expiry. */
export function KeySettings({ row: asked }: { readonly row: OwnKey }) {
  const { workspace } = usePlace();
  const [answered, setAnswered] = useState<OwnKey | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const row = answered !== null && answered.version > asked.version ? answered : asked;
  const edit = (fields: Omit<Draft, 'version'>) => setDraft({ version: row.version, ...draft, ...fields });
  const name = draft?.name ?? row.name;
  const roles = draft?.roles === undefined ? (row.roles ?? null) : draft.roles;
  const expiresAt = draft?.expiry ? momentOf(draft.expiry, Date.now()) : row.expiresAt;
  const isAgent = row.client !== null && row.client !== undefined;
  const save = useAction(async () => {
    if (draft === null) return;
    const { updateKey } = await send(updateKeyMutation, {
      workspace: workspace.id,
      id: row.id,
      input: {
        ifVersion: draft.version,
        ...(draft.name !== undefined && { name: draft.name.trim() }),
        ...(draft.roles === null && { allRoles: true }),
        ...(draft.roles && { roles: draft.roles.map(({ id }) => id) }),
        ...(draft.disclosure !== undefined && { disclosure: draft.disclosure }),
        ...(draft.expiry && (expiresAt === null ? { neverExpires: true } : { expiresAt: expiresAt ?? null })),
      },
    });
    setAnswered(updateKey);
    setDraft(null);
  });
  return (
    <Form onSubmit={save.run} className="grid gap-4">
      {!isAgent && <Field label="Name" value={name} onText={(text) => edit({ name: text })} rule={keyNameRule} />}
      <RoleChoice roles={roles} onRoles={(chosen) => edit({ roles: chosen })} />
      <DisclosureChoice
        disclosure={draft?.disclosure ?? row.disclosure}
        onDisclosure={(disclosure) => edit({ disclosure })}
      />
      {!isAgent && (
        <ExpiryField
          expiry={draft?.expiry ?? null}
          present={
            row.expiresAt == null
              ? 'As it is: no expiry'
              : `As it is: ${exactDay.format(row.expiresAt)}${row.state === 'expired' ? ', Expired' : ''}`
          }
          onExpiry={(expiry) => edit({ expiry })}
        />
      )}
      <ErrorLine error={onPage(save.error)} />
      {draft !== null && (
        <div className="flex gap-2">
          <Button look="primary" type="submit" isBusy={save.isBusy}>
            Save changes
          </Button>
          <Button onClick={() => setDraft(null)}>Discard</Button>
        </div>
      )}
    </Form>
  );
}
