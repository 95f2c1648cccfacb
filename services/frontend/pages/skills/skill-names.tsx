import { parseDescription, parseName } from '../../../contracts/names.ts';
import { Field, TextField } from '../../components/field.tsx';

export interface Names {
  readonly name: string;
  readonly description: string;
}

const nameRule = (text: string) => parseName('skill', text);

/** The fields by which people and agents know a skill. */
export function SkillNames({ name, description, onNames }: Names & { readonly onNames: (names: Names) => void }) {
  return (
    <>
      <Field
        label="Name"
        hint="Such as read-documents. Agents see it."
        value={name}
        onText={(text) => onNames({ name: text, description })}
        rule={nameRule}
        isCode
      />
      <TextField
        label="Description"
        hint="An agent decides by it whether it needs the skill: what it does, and when to use it."
        rows={3}
        spellCheck
        value={description}
        onText={(text) => onNames({ name, description: text })}
        rule={parseDescription}
      />
    </>
  );
}
