import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { type SkillTexts, saveTexts } from './change-skill.ts';
import type { Skill } from './shown-skill.ts';
import { SkillNames } from './skill-names.tsx';

/** Changes the name and the description. */
export function EditSkillNames({ skill, onClose }: { readonly skill: Skill; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const [base, setBase] = useState<Pick<SkillTexts, 'name' | 'description' | 'version'>>(skill);
  const [names, setNames] = useState({ name: skill.name, description: skill.description });
  const [theirs, setTheirs] = useState<SkillTexts | null>(null);
  const save = useAction(async () => {
    const { name, description } = base;
    const at = { workspace: workspace.id, id: skill.id };
    const changed = await saveTexts(at, { name, description, version: base.version }, names);
    setTheirs(changed);
    // The next attempt is made in the knowledge of theirs.
    if (changed !== null) setBase(changed);
    else onClose();
  });
  return (
    <FormDialog
      title={`Edit ${skill.name}`}
      verb={theirs === null ? 'Save' : 'Save mine'}
      action={save}
      cancel={theirs === null ? 'Cancel' : 'Keep theirs'}
      onClose={onClose}
    >
      <SkillNames {...names} onNames={setNames} />
      {theirs !== null && (
        <div role="alert" className="grid gap-1 rounded-control bg-warn-soft px-4 py-3 text-13">
          <p className="font-medium">Somebody changed it meanwhile.</p>
          <p className="break-words">{`Name: ${theirs.name}`}</p>
          <p className="break-words">{`Description: ${theirs.description === '' ? 'none' : theirs.description}`}</p>
        </div>
      )}
    </FormDialog>
  );
}
