import { useId, useState } from 'react';
import { parseFilePath } from '../../../contracts/file-path.ts';
import { filesOfSkillMaxBytes } from '../../../contracts/workspace-limits.ts';
import { usePlace } from '../../app/workspace.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field, problemOf } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { canUpload, uploadFile } from '../../graphql/skill-files.ts';
import type { Skill } from './shown-skill.ts';

const allMb = filesOfSkillMaxBytes / 1024 / 1024;

/** A new file of a skill, or one in place of another. */
export function UploadFile({ skill, onClose }: { readonly skill: Skill; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const [file, setFile] = useState<File | null>(null);
  const [path, setPath] = useState('');
  const id = useId();
  const replaced = skill.files.find((one) => one.path === path.normalize('NFC')) ?? null;
  const isTooLarge = file !== null && file.size > filesOfSkillMaxBytes;
  const isReady = file !== null && !isTooLarge && problemOf(parseFilePath, path) === null;
  const upload = useAction(async () => {
    if (file === null) return;
    const what = { workspace: workspace.id, skill: skill.id, path, file, replaced: replaced?.digest ?? null };
    await uploadFile(what);
    showToast(replaced === null ? `${path} was added.` : `${path} was replaced.`);
    onClose();
  });
  const choose = (chosen: File | null) => {
    setFile(chosen);
    if (chosen !== null && (path === '' || path === file?.name)) setPath(chosen.name);
  };
  if (!canUpload) {
    return (
      <Dialog title="Upload file" onClose={onClose}>
        <p>
          This page was not loaded over HTTPS, so the browser does not compute the digest of a file. Use the command
          line: <code className="text-13">{`svc file add ${skill.name} PATH`}</code>
        </p>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Upload file"
      verb={replaced === null ? 'Upload' : 'Replace'}
      action={upload}
      isReady={isReady}
      onClose={onClose}
    >
      <div className="grid gap-1">
        <label htmlFor={id} className="font-medium text-13">
          File
        </label>
        <input
          id={id}
          type="file"
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => choose(target.files?.[0] ?? null)}
          className="h-11 w-full rounded-control border border-border-strong bg-surface text-13 file:mr-3 file:h-full file:border-0 file:bg-hover file:px-3 file:font-medium tablet:h-9"
        />
        <p id={`${id}-hint`} className="text-12 text-quiet">
          {`At most 10 MB, unless the operator set another limit. All files of a skill have at most ${allMb} MB together.`}
        </p>
        {isTooLarge && (
          <p role="alert" className="text-12 text-bad">
            {`The file has ${Math.ceil(file.size / 1024 / 1024)} MB: all files of a skill may have ${allMb} MB together.`}
          </p>
        )}
      </div>
      <Field
        label="Path in the skill"
        hint="Such as references/forms.md. The instructions name it for the agent."
        value={path}
        onText={setPath}
        rule={parseFilePath}
        isCode
      />
      {replaced !== null && <p className="text-13">It replaces the file that has this path now.</p>}
    </FormDialog>
  );
}
