import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createSkillMutation } from '../../graphql/generated/operations.ts';
import { isReadySkill, SkillNames } from './skill-names.tsx';

/** Makes a skill, and opens its page. */
export function CreateSkill({ onClose }: { readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const [names, setNames] = useState({ name: '', description: '' });
  const isReady = isReadySkill(names);
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) create.run();
  };
  return (
    <Dialog title="Create skill" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <SkillNames {...names} onNames={setNames} />
        <ErrorLine error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!isReady} isBusy={create.isBusy}>
            Create skill
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
