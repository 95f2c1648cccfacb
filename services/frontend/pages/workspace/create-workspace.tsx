import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { parseName } from '../../../contracts/names.ts';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { ask, send } from '../../graphql/client.ts';
import { createWorkspaceMutation, viewerQuery } from '../../graphql/generated/operations.ts';

const nameRule = (text: string) => parseName('workspace', text);

/** Asks for a name, then opens the new workspace. */
export function CreateWorkspace({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const create = useAction(async () => {
    const { createWorkspace } = await send(createWorkspaceMutation, { input: { name: name.trim() } });
    // The frame opens a workspace that is in this answer.
    await ask(viewerQuery, {});
    onClose();
    await navigate({ to: '/w/$workspace', params: { workspace: createWorkspace.id } });
  });
  return (
    <FormDialog title="Create workspace" verb="Create workspace" action={create} onClose={onClose}>
      <p className="text-quiet">
        A workspace has its own MCP servers, skills, roles, members and API keys. You become its owner.
      </p>
      <Field label="Name" value={name} onText={setName} rule={nameRule} />
    </FormDialog>
  );
}
