import { type FormEvent, useId, useState } from 'react';
import { parseName } from '../../contracts/names.ts';
import { usePlace } from '../app/workspace.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorLine } from '../components/error-state.tsx';
import { Field, problemOf } from '../components/field.tsx';
import { KeyShownOnce } from '../components/key-shown-once.tsx';
import { useAction } from '../components/use-action.ts';
import { send } from '../graphql/client.ts';
import { createKeyMutation } from '../graphql/generated/operations.ts';

const nameRule = (text: string) => parseName('key', text);
const dayMs = 24 * 60 * 60 * 1000;
const lifetimes = [
  { days: null, title: 'No expiry' },
  { days: 30, title: '30 days' },
  { days: 90, title: '90 days' },
  { days: 365, title: 'One year' },
] as const;

/** Asks for a name, then shows the new key once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState(0);
  const [secret, setSecret] = useState<string | null>(null);
  const id = useId();
  const isReady = problemOf(nameRule, name) === null;
  const create = useAction(async () => {
    const days = lifetimes[lifetime]?.days ?? null;
    const expiresAt = days === null ? null : Date.now() + days * dayMs;
    const { createKey } = await send(createKeyMutation, {
      workspace: workspace.id,
      input: { name: name.trim(), ...(expiresAt !== null && { expiresAt }) },
    });
    setSecret(createKey.secret);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) create.run();
  };
  if (secret !== null) {
    return (
      <Dialog title={`Key ${name.trim()}`} onClose={onClose}>
        <div className="grid gap-4">
          <KeyShownOnce secret={secret} about="Copy the key now. It is shown only once." />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Create API key" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <Field label="Name" hint="Such as the name of the agent." value={name} onText={setName} rule={nameRule} />
        <div className="grid gap-1">
          <label htmlFor={id} className="font-medium text-13">
            Valid for
          </label>
          <select
            id={id}
            value={lifetime}
            onChange={({ target }) => setLifetime(Number(target.value))}
            className="h-11 rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-9 tablet:text-14"
          >
            {lifetimes.map(({ title }, index) => (
              <option key={title} value={index}>
                {title}
              </option>
            ))}
          </select>
        </div>
        <ErrorLine error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!isReady} isBusy={create.isBusy}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
