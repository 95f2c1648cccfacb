import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { removeSkillFileMutation } from '../../graphql/generated/operations.ts';
import { downloadFile } from '../../graphql/skill-files.ts';
import type { Skill } from './shown-skill.ts';
import { detailClass, Lines, lineClass, SkillSection } from './skill-section.tsx';

/** The files that an agent can read once it has loaded the skill. */
export function SkillFiles({ skill, onAdd }: { readonly skill: Skill; readonly onAdd: () => void }) {
  const { mayEdit } = usePlace();
  const upload = mayEdit && (
    <Button isSmall icon="plus" onClick={onAdd}>
      Upload file
    </Button>
  );
  return (
    <SkillSection title="Files" about={skill.files.length > 0 ? String(skill.files.length) : undefined} action={upload}>
      {skill.files.length === 0 ? (
        <p className="text-13 text-quiet">
          There are none. Files hold what an agent needs only at times, such as references, templates and scripts.
        </p>
      ) : (
        <Lines label="Files">
          {skill.files.map((file) => (
            <FileLine key={file.path} skill={skill} file={file} />
          ))}
        </Lines>
      )}
    </SkillSection>
  );
}

function FileLine({ skill, file }: { readonly skill: Skill; readonly file: Skill['files'][number] }) {
  const { workspace, mayEdit } = usePlace();
  const [isRemoving, setRemoving] = useState(false);
  const { path, digest } = file;
  const download = useAction(() => downloadFile({ workspace: workspace.id, id: skill.id }, path));
  return (
    <li className={lineClass}>
      <span className="min-w-0 flex-1 break-all">{path}</span>
      <span className={`text-quiet ${detailClass}`}>{sizeOf(file.sizeBytes)}</span>
      <Button isSmall look="quiet" onClick={download.run} isBusy={download.isBusy} aria-label={`Download ${path}`}>
        Download
      </Button>
      {mayEdit && <IconButton label={`Remove ${path}`} icon="close" onClick={() => setRemoving(true)} />}
      <ErrorLine error={download.error} />
      {isRemoving && (
        <ConfirmByTyping
          title={`Remove ${path}`}
          name={path}
          verb="Remove file"
          consequence={`The file is deleted. Agents that use ${skill.name} cannot read it any more.`}
          onConfirm={async () => {
            await send(removeSkillFileMutation, { workspace: workspace.id, skill: skill.id, path, ifDigest: digest });
            showToast(`${path} was removed.`);
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </li>
  );
}

const kib = 1024;
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function sizeOf(bytes: number): string {
  if (bytes < kib) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  if (bytes < kib * kib) return `${number.format(bytes / kib)} KB`;
  return `${number.format(bytes / kib / kib)} MB`;
}
