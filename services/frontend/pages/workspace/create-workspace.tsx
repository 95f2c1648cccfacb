import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { parseName } from '../../../contracts/names.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field, problemOf } from '../../components/field.tsx';
import { useAction } from '../../components/use-action.ts';
import { ask, send } from '../../graphql/client.ts';
import { createWorkspaceMutation, viewerQuery } from '../../graphql/generated/operations.ts';

const nameRule = (text: string) => parseName('workspace', text);

/** Asks for a name, then opens the new workspace. */
export function CreateWorkspace({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const isReady = problemOf(nameRule, name) === null;
  const create = useAction(async () => {
    const { createWorkspace } = await send(createWorkspaceMutation, { input: { name: name.trim() } });
    // The frame opens a workspace that is in this answer.
    await ask(viewerQuery, {});
    onClose();
    await navigate({ to: '/w/$workspace', params: { workspace: createWorkspace.id } });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) create.run();
  };
  return (
    <Dialog title="Create workspace" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <p className="text-quiet">
          A workspace has its own MCP servers, skills, roles, members and API keys. You become its owner.
        </p>
        <Field label="Name" value={name} onText={setName} rule={nameRule} />
        <ErrorLine error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!isReady} isBusy={create.isBusy}>
            Create workspace
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
