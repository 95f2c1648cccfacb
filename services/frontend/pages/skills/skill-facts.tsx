import { usePlace } from '../../app/workspace.ts';
import { ask } from '../../graphql/client.ts';
import { type SkillCallsQuery, skillCallsQuery } from '../../graphql/generated/operations.ts';
import { useRead } from '../../graphql/use-read.ts';
import type { Skill } from './shown-skill.ts';

const number = new Intl.NumberFormat('en');
/** A usual estimate for English text; that of a model may differ by a third. */
const charactersOfToken = 4;

/** What an agent reads when it loads the skill. */
export function SkillCost({ skill }: { readonly skill: Skill }) {
  const { name, description, instructions, definitionsLength } = skill;
  const texts = name.length + description.length + instructions.length;
  const tokens = Math.ceil((texts + definitionsLength) / charactersOfToken);
  return (
    <div className="grid gap-1">
      <dt className="text-quiet">Cost for an agent</dt>
      <dd className="grid gap-1">
        {`about ${number.format(tokens)} tokens`}
        <span className="text-12 text-quiet">
          {`An estimate: ${number.format(texts)} characters of text and ${number.format(definitionsLength)} of tool definitions, four to a token. Files cost when an agent reads them.`}
        </span>
      </dd>
    </div>
  );
}

type Calls = NonNullable<NonNullable<SkillCallsQuery['workspace']>['skill']>['week'];

/** Read once: the sum over many records is not for every change that somebody makes. */
export function SkillUsage({ id }: { readonly id: string }) {
  const { workspace } = usePlace();
  const { data, error } = useRead(id, () => ask(skillCallsQuery, { workspace: workspace.id, id }));
  const lines = error === null ? linesOf(data?.workspace?.skill ?? null) : [error.message];
  return (
    <div className="grid gap-1">
      <dt className="text-quiet">Usage</dt>
      {lines.map((line) => (
        <dd key={line} className="break-words">
          {line}
        </dd>
      ))}
    </div>
  );
}

function linesOf(skill: { readonly week: Calls; readonly month: Calls } | null): readonly string[] {
  if (skill === null) return ['–'];
  return [`Last 7 days: ${wordsOf(skill.week)}`, `Last 30 days: ${wordsOf(skill.month)}`];
}

function wordsOf({ calls, errors, isComplete }: Calls): string {
  if (calls === 0) return 'no calls';
  const least = isComplete ? '' : 'more than ';
  return `${least}${counted(calls, 'call')}, ${counted(errors, 'error')}`;
}

function counted(count: number, word: string): string {
  return `${number.format(count)} ${word}${count === 1 ? '' : 's'}`;
}
