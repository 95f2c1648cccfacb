import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { SkillDialog } from '../../app/skill-search.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Icon } from '../../components/icon.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { showToast } from '../../components/toast.tsx';
import { send } from '../../graphql/client.ts';
import { removeSkillMutation, skillQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { PageHead } from '../page-head.tsx';
import { AddTools } from './add-tools.tsx';
import { EditSkillNames } from './edit-skill-names.tsx';
import type { Skill } from './shown-skill.ts';
import { SkillCost, SkillUsage } from './skill-facts.tsx';
import { SkillFiles } from './skill-files.tsx';
import { type Draft, SkillInstructions } from './skill-instructions.tsx';
import { SkillRepair } from './skill-repair.tsx';
import { AddToRoles, SkillRoles } from './skill-roles.tsx';
import { SkillStatus } from './skill-state.tsx';
import { SkillTools } from './skill-tools.tsx';
import { UploadFile } from './upload-file.tsx';

const from = '/w/$workspace/skills/$skill';

/** Shows or closes what is open on the page. */
export type ShowDialog = (open: SkillDialog | undefined) => void;

export function SkillPage() {
  const { skill } = useParams({ from });
  return <OneSkill key={skill} id={skill} />;
}

function OneSkill({ id }: { readonly id: string }) {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(skillQuery, { workspace: workspace.id, id });
  const [draft, setDraft] = useState<Draft | null>(null);
  const skill = data?.workspace?.skill ?? null;
  return (
    <>
      <Link
        to="/w/$workspace/skills"
        params={{ workspace: workspace.id }}
        className="mb-1 inline-flex h-8 items-center gap-1 text-13 text-quiet hover:text-text"
      >
        <Icon name="chevron" className="rotate-90" />
        Skills
      </Link>
      {skill !== null ? (
        <Details skill={skill} draft={draft} onDraft={setDraft} />
      ) : error === null && data === null ? (
        <Skeleton lines={8} />
      ) : (
        <>
          <PageHead title="Skill" />
          {error !== null ? <ErrorState error={error} onRetry={retry} /> : <Missing id={id} draft={draft} />}
        </>
      )}
    </>
  );
}

/** A skill that somebody removed leaves the text that a person was writing. */
function Missing({ id, draft }: { readonly id: string; readonly draft: Draft | null }) {
  return (
    <>
      <EmptyState title="No such skill">
        {`No skill of this workspace has the id "${id.slice(0, 80)}". Somebody removed it, or the address is wrong.`}
      </EmptyState>
      {draft !== null && (
        <label className="grid gap-1 text-13">
          Your unsaved instructions
          <textarea
            readOnly
            rows={12}
            value={draft.text}
            className="rounded-control border border-border-strong bg-surface px-3 py-2 font-mono text-13"
          />
        </label>
      )}
    </>
  );
}

interface DetailsProps {
  readonly skill: Skill;
  readonly draft: Draft | null;
  readonly onDraft: (draft: Draft | null) => void;
}

function Details({ skill, draft, onDraft }: DetailsProps) {
  const { mayEdit } = usePlace();
  const [{ open }, change] = useShown(from);
  const show: ShowDialog = (next) => change({ open: next }, next === undefined);
  const close = () => show(undefined);
  const isEditing = open === 'instructions' && mayEdit;
  const leave = useWarning(draft !== null && draft.text !== draft.base.instructions);
  return (
    <>
      <PageHead
        title={skill.name}
        about={skill.description || undefined}
        action={
          mayEdit && (
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => show('details')}>Edit</Button>
              <Button look="dangerous" onClick={() => show('remove')}>
                Remove…
              </Button>
            </div>
          )
        }
      />
      <div className="grid gap-8 desktop:grid-cols-[minmax(0,1fr)_16rem]">
        <div className="grid min-w-0 content-start gap-8">
          <SkillRepair skill={skill} />
          <SkillInstructions
            skill={skill}
            draft={draft}
            onDraft={onDraft}
            isEditing={isEditing}
            onEdit={() => show('instructions')}
            onClose={close}
          />
          <SkillTools skill={skill} onAdd={() => show('tools')} />
          <SkillFiles skill={skill} onAdd={() => show('file')} />
        </div>
        <div className="grid min-w-0 content-start gap-8">
          <dl className="grid gap-4 text-13">
            <div className="grid gap-1">
              <dt className="text-quiet">Status</dt>
              <dd>
                <SkillStatus {...skill} />
              </dd>
            </div>
            <SkillCost skill={skill} />
            <SkillUsage id={skill.id} />
          </dl>
          <SkillRoles skill={skill} onAdd={() => show('roles')} />
        </div>
      </div>
      {mayEdit && open === 'details' && <EditSkillNames skill={skill} onClose={close} />}
      {mayEdit && open === 'tools' && <AddTools skill={skill} onClose={close} />}
      {mayEdit && open === 'file' && <UploadFile skill={skill} onClose={close} />}
      {mayEdit && open === 'roles' && <AddToRoles skill={skill} onClose={close} />}
      {mayEdit && open === 'remove' && <RemoveSkill skill={skill} onClose={close} onRemoved={leave.allow} />}
      {leave.question}
    </>
  );
}

/** Asks before a person leaves the page with a text that is not saved. */
function useWarning(isDirty: boolean) {
  const isAllowed = useRef(false);
  const dirty = useRef(isDirty);
  useEffect(() => {
    dirty.current = isDirty;
  });
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty.current && !isAllowed.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty.current && !isAllowed.current,
    withResolver: true,
  });
  const question =
    status === 'blocked' ? (
      <Dialog title="Leave without saving?" onClose={reset}>
        <div className="grid gap-4">
          <p>The instructions have changes that are not saved. They are lost when you leave.</p>
          <div className="flex justify-end gap-2">
            <Button look="primary" onClick={reset}>
              Stay
            </Button>
            <Button look="dangerous" onClick={proceed}>
              Leave
            </Button>
          </div>
        </div>
      </Dialog>
    ) : null;
  return {
    question,
    allow: () => {
      isAllowed.current = true;
    },
  };
}

function RemoveSkill({
  skill,
  onClose,
  onRemoved,
}: {
  readonly skill: Skill;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const { id, name, version, roles } = skill;
  const names = roles.map((role) => role.name).join(', ');
  return (
    <ConfirmByTyping
      title={`Remove ${name}`}
      name={name}
      verb="Remove skill"
      consequence={
        roles.length === 0
          ? 'Its instructions and its files are deleted. No role has it.'
          : `Its instructions and its files are deleted. These roles lose it: ${names}.`
      }
      onConfirm={async () => {
        const ifUsedBy = roles.map((role) => role.id);
        await send(removeSkillMutation, { workspace: workspace.id, id, ifVersion: version, ifUsedBy });
        onRemoved();
        showToast(`${name} was removed.`);
        await navigate({ to: '/w/$workspace/skills', params: { workspace: workspace.id }, search: {} });
      }}
      // The page is another one by then.
      onClose={() => window.location.pathname.endsWith(id) && onClose()}
    />
  );
}
