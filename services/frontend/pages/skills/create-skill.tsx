import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createSkillMutation } from '../../graphql/generated/operations.ts';
import { SkillNames } from './skill-names.tsx';

/** Makes a skill, and opens its page. */
export function CreateSkill({ onClose }: { readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const [names, setNames] = useState({ name: '', description: '' });
  const create = useAction(async () => {
    const { createSkill } = await send(createSkillMutation, { workspace: workspace.id, input: names });
    await navigate({
      to: '/w/$workspace/skills/$skill',
      params: { workspace: workspace.id, skill: createSkill.id },
      search: {},
      // Back leads to the list without this dialog.
      replace: true,
    });
  });
  return (
    <FormDialog title="Create skill" verb="Create skill" action={create} onClose={onClose}>
      <SkillNames {...names} onNames={setNames} />
    </FormDialog>
  );
}
