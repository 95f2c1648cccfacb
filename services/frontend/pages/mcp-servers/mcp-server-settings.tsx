import { type FormEvent, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { setMcpServerLaunchMutation } from '../../graphql/generated/operations.ts';
import {
  type Draft,
  filledLaunch,
  type ShownDeclaration,
  type ShownLaunch,
  shownValue,
  withText,
} from './filled-launch.ts';

/** The declared settings of an MCP server as a form. A secret value is changed or removed, and never shown. */
export function McpServerSettings({
  server: { id, name, version },
  launch,
}: {
  readonly server: { readonly id: string; readonly name: string; readonly version: number };
  readonly launch: ShownLaunch;
}) {
  const { workspace } = usePlace();
  const [draft, setDraft] = useState<Draft>(new Map());
  const save = useAction(async () => {
    const changed = filledLaunch(launch, draft);
    await send(setMcpServerLaunchMutation, { workspace: workspace.id, id, launch: changed, ifVersion: version });
    setDraft(new Map());
    showToast(`The settings of ${name} were saved.`);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft.size > 0) save.run();
  };
  return (
    <form onSubmit={submit} className="grid gap-4">
      {launch.settings.map((setting) => (
        <SettingField key={setting.name} setting={setting} launch={launch} draft={draft} onDraft={setDraft} />
      ))}
      {launch.setBy === 'operator' && (
        <p className="text-12 text-quiet">
          An operator set this launch. When you save, it counts as yours, and the rules for launches of members apply.
        </p>
      )}
      <ErrorLine error={save.error} />
      <div className="flex gap-2">
        <Button look="primary" type="submit" disabled={draft.size === 0} isBusy={save.isBusy}>
          Save settings
        </Button>
        {draft.size > 0 && !save.isBusy && <Button onClick={() => setDraft(new Map())}>Discard</Button>}
      </div>
    </form>
  );
}

function SettingField({
  setting,
  launch,
  draft,
  onDraft,
}: {
  readonly setting: ShownDeclaration;
  readonly launch: ShownLaunch;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}) {
  const { name, title, description, secret, required, isSet } = setting;
  const isChanged = draft.has(name);
  const isRemoved = isChanged && draft.get(name) === null;
  const isMissing = required && (isRemoved || (!isSet && !isChanged));
  const state = !secret ? '' : isRemoved ? 'Its value is removed when you save.' : isSet ? 'It has a value.' : '';
  const hint = [description, required ? '' : 'Optional.', state].filter((part) => part !== '').join(' ');
  return (
    <div className="grid wrap-anywhere gap-1">
      <Field
        label={title === '' ? name : `${title} (${name})`}
        hint={hint === '' ? undefined : hint}
        problem={isMissing ? 'The MCP server does not start without it.' : null}
        type={secret ? 'password' : 'text'}
        // A browser must not fill in the password of the person.
        autoComplete={secret ? 'new-password' : 'off'}
        value={draft.get(name) ?? (isChanged ? '' : shownValue(launch, name))}
        onText={(text) => onDraft(withText(draft, launch, setting, text))}
        isCode
      />
      {secret && isSet && !isChanged && (
        <div>
          <Button
            look="quiet"
            isSmall
            className="-ml-3"
            aria-label={`Remove the value of ${name}`}
            onClick={() => onDraft(new Map(draft).set(name, null))}
          >
            Remove value
          </Button>
        </div>
      )}
    </div>
  );
}
