import { useId, useState } from 'react';
import { parseFilePath } from '../../../contracts/file-path.ts';
import { filesOfSkillMaxBytes } from '../../../contracts/workspace-limits.ts';
import { usePlace } from '../../app/workspace.ts';
import { classNames } from '../../components/class-names.ts';
import { Dialog } from '../../components/dialog.tsx';
import { describedBy, Field, Labelled } from '../../components/field.tsx';
import { useIsRefused } from '../../components/form.tsx';
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
  const replaced = skill.files.find((one) => one.path === path.normalize('NFC')) ?? null;
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
    <FormDialog title="Upload file" verb={replaced === null ? 'Upload' : 'Replace'} action={upload} onClose={onClose}>
      <FileField file={file} onFile={choose} />
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

const hint = `At most 10 MB, unless the operator set another limit. All files of a skill have at most ${allMb} MB together.`;

function FileField({ file, onFile }: { readonly file: File | null; readonly onFile: (file: File | null) => void }) {
  const id = useId();
  const isRefused = useIsRefused();
  const problem = file === null ? (isRefused ? 'Choose a file.' : null) : problemOfSize(file);
  return (
    <Labelled id={id} label="File" hint={hint} problem={problem}>
      <input
        id={id}
        type="file"
        required
        aria-invalid={problem !== null}
        aria-describedby={describedBy(id, hint, problem)}
        onChange={({ target }) => onFile(target.files?.[0] ?? null)}
        className={classNames(
          'h-11 w-full rounded-control border bg-surface text-13 file:mr-3 file:h-full file:border-0 file:bg-hover file:px-3 file:font-medium tablet:h-9',
          problem === null ? 'border-border-strong' : 'border-bad',
        )}
      />
    </Labelled>
  );
}

function problemOfSize({ size }: File): string | null {
  if (size <= filesOfSkillMaxBytes) return null;
  return `The file has ${Math.ceil(size / 1024 / 1024)} MB: all files of a skill may have ${allMb} MB together.`;
}
