import { lazy, Suspense, useState } from 'react';
import { parseDescription } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  type KeysOfRoleQuery,
  keysOfRoleQuery,
  type RolePatch,
  type RoleRowFragment,
  removeRoleMutation,
  roleQuery,
  updateRoleMutation,
} from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { onPage } from '../conflict-hint.ts';
import { Section } from '../section.tsx';
import { roleNameRule } from './create-role.tsx';
import { newest } from './use-role-skills.ts';

/** Its search of tools is large, and needed only in an open panel. */
const RoleRules = lazy(async () => ({ default: (await import('./role-rules.tsx')).RoleRules }));

type Key = NonNullable<NonNullable<KeysOfRoleQuery['workspace']>['role']>['keys'][number];

/** Everything about one role, and what can be done with it. */
export function RolePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { workspace, mayConfigure } = usePlace();
  const at = { workspace: workspace.id, id };
  const { data, error, retry } = useOperation(roleQuery, at);
  const keys = useOperation(keysOfRoleQuery, at, !mayConfigure);
  const role = data?.workspace?.role;
  return (
    <DetailsPanel
      title={role?.name ?? 'Role'}
      of={role}
      isAwaited={data === null}
      error={error}
      onRetry={retry}
      missing={`No role has the id "${id}". It was removed, or the address is wrong.`}
      onClose={onClose}
    >
      {(found) => <Details role={found} keys={keys.data?.workspace?.role?.keys ?? null} onRemoved={onClose} />}
    </DetailsPanel>
  );
}

interface DetailsProps {
  readonly role: RoleRowFragment;
  /** Null while they are unknown; only owners and admins see them. */
  readonly keys: readonly Key[] | null;
  readonly onRemoved: () => void;
}

function Details({ role: asked, keys, onRemoved }: DetailsProps) {
  const { workspace, mayEdit, mayConfigure } = usePlace();
  const [answered, setAnswered] = useState<RoleRowFragment | null>(null);
  const role = newest(asked, answered);
  const change = async (input: RolePatch) => {
    const { updateRole } = await send(updateRoleMutation, { workspace: workspace.id, id: role.id, input });
    setAnswered(updateRole);
  };
  return (
    <div className="grid gap-6">
      <p className="text-13 text-quiet">
        {`${role.enabled ? 'Enabled' : 'Disabled: agents do not get it'} · ${role.skills.length} ${role.skills.length === 1 ? 'skill' : 'skills'}`}
      </p>
      {mayEdit ? (
        <>
          <Actions role={role} keys={keys} change={change} onRemoved={onRemoved} />
          <NameForm role={role} change={change} />
        </>
      ) : (
        role.description !== '' && <p className="break-words text-13">{role.description}</p>
      )}
      <Suspense fallback={<Skeleton lines={3} />}>
        <RoleRules role={role} change={change} />
      </Suspense>
      {mayConfigure && keys !== null && (
        <Section title="Keys">
          <p className="text-13 text-quiet">
            {keys.length === 0
              ? 'No key is limited to this role. Keys without a list of roles have it.'
              : 'These keys are limited to roles, with this one among them. Keys without a list of roles have it, too.'}
          </p>
          <ul className="grid gap-1 text-13">
            {keys.map((key) => (
              <li key={key.id} className="truncate">
                {key.name}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  );
}

type Change = (input: RolePatch) => Promise<void>;

interface Draft {
  readonly name: string;
  readonly description: string;
  /** Of the role that the person began to change. */
  readonly version: number;
}

function NameForm({ role, change }: { readonly role: RoleRowFragment; readonly change: Change }) {
  const [draft, setDraft] = useState<Draft | null>(null);
  const { name, description } = draft ?? role;
  const edit = (fields: Partial<Draft>) =>
    setDraft({ name, description, version: draft?.version ?? role.version, ...fields });
  const save = useAction(async () => {
    if (draft === null) return;
    await change({ name, description, ifVersion: draft.version });
    setDraft(null);
  });
  return (
    <Form onSubmit={save.run} className="grid gap-3">
      <Field label="Name" value={name} onText={(text) => edit({ name: text })} rule={roleNameRule} />
      <Field
        label="Description"
        value={description}
        onText={(text) => edit({ description: text })}
        rule={parseDescription}
      />
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

function Actions({ role, keys, change, onRemoved }: DetailsProps & { readonly change: Change }) {
  const { workspace, mayConfigure } = usePlace();
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, version, enabled } = role;
  const toggle = useAction(async () => {
    await change({ enabled: !enabled, ifVersion: version });
    showToast(enabled ? `${name} is off.` : `${name} is on.`, () => void change({ enabled }).catch(() => undefined));
  });
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button onClick={toggle.run} isBusy={toggle.isBusy}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button look="dangerous" disabled={mayConfigure && keys === null} onClick={() => setRemoving(true)}>
          Remove…
        </Button>
      </div>
      <ErrorLine error={onPage(toggle.error)} />
      {isRemoving && (
        <ConfirmByTyping
          title={`Remove ${name}`}
          name={name}
          verb="Remove role"
          consequence={consequenceFor(keys)}
          onConfirm={async () => {
            await send(removeRoleMutation, {
              ...{ workspace: workspace.id, id, ifVersion: version },
              ifUsedBy: keys?.map((key) => key.id) ?? null,
            });
            onRemoved();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}

const keysNamedMax = 20;

function consequenceFor(keys: readonly Key[] | null): string {
  if (keys === null) return 'Its skills stay. Keys that are limited to this role lose it.';
  if (keys.length === 0) return 'Its skills stay. No key is limited to it.';
  const listed = (of: readonly Key[]) => {
    const rest = of.length > keysNamedMax ? ` and ${of.length - keysNamedMax} more` : '';
    return `${of
      .slice(0, keysNamedMax)
      .map((key) => key.name)
      .join(', ')}${rest}`;
  };
  const blind = keys.filter((key) => key.roles?.length === 1);
  const kept = keys.filter((key) => key.roles?.length !== 1);
  return [
    'Its skills stay.',
    ...(kept.length === 0 ? [] : [`These keys lose it: ${listed(kept)}.`]),
    ...(blind.length === 0
      ? []
      : [`These keys have no other role, so their agents see no skills any more: ${listed(blind)}.`]),
  ].join(' ');
}
