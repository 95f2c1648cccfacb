import { useEffect, useRef, useState } from 'react';
import { instructionsMaxBytes } from '../../../contracts/workspace-limits.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { saveTexts } from './change-skill.ts';
import { Formatted } from './formatted.tsx';
import type { Skill } from './shown-skill.ts';
import { SkillSection } from './skill-section.tsx';

/** A text that is not saved, and the one that it began with. */
export interface Draft {
  readonly text: string;
  readonly base: { readonly instructions: string; readonly version: number };
}

interface InstructionsProps {
  readonly skill: Skill;
  /** It stays while the page is open, so that neither a lost connection nor a closed editor loses it. */
  readonly draft: Draft | null;
  readonly onDraft: (draft: Draft | null) => void;
  readonly isEditing: boolean;
  readonly onEdit: () => void;
  readonly onClose: () => void;
}

/** The text that an agent reads first: formatted, or in an editor with a preview. */
export function SkillInstructions(props: InstructionsProps) {
  const { skill, draft, isEditing, onEdit } = props;
  const { mayEdit } = usePlace();
  if (isEditing) return <Editor {...props} />;
  const isUnsaved = draft !== null && draft.text !== draft.base.instructions;
  const edit = mayEdit && (
    <Button isSmall onClick={onEdit}>
      {isUnsaved ? 'Continue editing' : 'Edit instructions'}
    </Button>
  );
  return (
    <SkillSection
      title="Instructions"
      about={isUnsaved ? 'You have changes that are not saved.' : undefined}
      action={edit}
    >
      {skill.instructions.trim() === '' ? (
        <p className="text-13 text-quiet">
          There are none. An agent that loads the skill sees its tools without a word about their use.
        </p>
      ) : (
        <div className="rounded-control border border-border bg-surface px-5 py-4">
          <Formatted text={skill.instructions} />
        </div>
      )}
    </SkillSection>
  );
}

function Editor({ skill, draft, onDraft, onClose }: InstructionsProps) {
  const { workspace } = usePlace();
  const [isPreview, setPreview] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // The button that opened the editor is gone.
  useEffect(() => form.current?.querySelector('textarea')?.focus(), []);
  const [isDiscarding, setDiscarding] = useState(false);
  const [theirs, setTheirs] = useState<Draft['base'] | null>(null);
  // The text from before the first letter is that of the skill as it is now.
  const [opened] = useState({ instructions: skill.instructions, version: skill.version });
  const { text, base } = draft ?? { text: opened.instructions, base: opened };
  const isDirty = text !== base.instructions;
  const problem = problemOfLength(text);
  const end = () => {
    onDraft(null);
    onClose();
  };
  const save = useAction(async () => {
    const at = { workspace: workspace.id, id: skill.id };
    const changed = await saveTexts(at, base, { instructions: text });
    if (changed === null) {
      end();
      return showToast('The instructions are saved.');
    }
    setTheirs(changed);
    setPreview(false);
    // The next attempt is made in the knowledge of theirs.
    onDraft({ text, base: changed });
  });
  const submit = () => {
    // The preview has no field to say it at.
    if (problem !== null) setPreview(false);
    else if (isDirty) save.run();
  };
  useShortcuts({ 'mod+s': () => form.current?.requestSubmit() });
  const cancel = () => (isDirty ? setDiscarding(true) : end());
  return (
    <SkillSection
      title="Instructions"
      action={
        <div className="flex gap-1">
          <Mode isOn={!isPreview} onPress={() => setPreview(false)} title="Write" />
          <Mode isOn={isPreview} onPress={() => setPreview(true)} title="Preview" />
        </div>
      }
    >
      <Form ref={form} className="grid gap-3" onSubmit={submit}>
        <div className={theirs === null ? 'grid gap-3' : 'grid gap-3 desktop:grid-cols-2'}>
          {theirs !== null && (
            <div className="grid content-start gap-2">
              <p role="alert" className="rounded-control bg-warn-soft px-3 py-2 text-13">
                Somebody changed the instructions meanwhile. Nothing of yours is saved yet. This is their text:
              </p>
              <pre
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
                tabIndex={0}
                className="max-h-96 overflow-auto whitespace-pre-wrap break-words rounded-control border border-border bg-sunken px-3 py-2 text-13"
              >
                {theirs.instructions}
              </pre>
            </div>
          )}
          {isPreview ? (
            <div className="min-h-64 rounded-control border border-border bg-surface px-5 py-4">
              <Formatted text={text} />
            </div>
          ) : (
            <TextField
              label={theirs === null ? 'Text in Markdown' : 'Your text'}
              hint="Headings, lists, tables and links are formatted. HTML and images are not shown."
              rows={20}
              spellCheck
              value={text}
              onText={(typed) => onDraft({ text: typed, base })}
              problem={problem}
            />
          )}
        </div>
        <ErrorLine error={save.error} />
        <div className="flex flex-wrap justify-end gap-2">
          {theirs === null ? <Button onClick={cancel}>Cancel</Button> : <Button onClick={end}>Take theirs</Button>}
          <Button look="primary" type="submit" disabled={!isDirty} isBusy={save.isBusy}>
            {theirs === null ? 'Save' : 'Save mine'}
          </Button>
        </div>
      </Form>
      {isDiscarding && (
        <Dialog title="Discard the changes?" onClose={() => setDiscarding(false)}>
          <div className="grid gap-4">
            <p>Your changes of the instructions are not saved.</p>
            <div className="flex justify-end gap-2">
              <Button onClick={() => setDiscarding(false)}>Keep editing</Button>
              <Button look="danger" onClick={end}>
                Discard
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </SkillSection>
  );
}

function Mode({
  isOn,
  onPress,
  title,
}: {
  readonly isOn: boolean;
  readonly onPress: () => void;
  readonly title: string;
}) {
  return (
    <Button isSmall look={isOn ? 'secondary' : 'quiet'} aria-pressed={isOn} onClick={onPress}>
      {title}
    </Button>
  );
}

function problemOfLength(text: string): string | null {
  // No letter has less than one byte or more than three for each unit.
  if (text.length * 3 <= instructionsMaxBytes) return null;
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes <= instructionsMaxBytes) return null;
  return `The instructions have ${Math.ceil(bytes / 1024)} KB: ${instructionsMaxBytes / 1024} KB are allowed.`;
}
