import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  countUsable,
  type ExplainedRole,
  type ExplainedSkill,
  type Explanation,
  type Gap,
  groupGaps,
  whyOf,
} from '../../../contracts/explain-key.ts';
import { usePlace } from '../../app/workspace.ts';
import { ErrorState } from '../../components/error-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { StatusDot } from '../../components/status-dot.tsx';
import { Section } from '../section.tsx';
import { GapRepair } from './gap-repair.tsx';
import { KeyState } from './key-state.tsx';
import type { OwnKey } from './own-keys.ts';
import { useExplanation } from './use-explanation.ts';

interface KeyExplanationProps {
  readonly row: OwnKey;
  /** Shows what can be changed of the key. */
  readonly onSettings: () => void;
}

/** What an agent with a key can use, and for everything else of the workspace why not. */
export function KeyExplanation({ row, onSettings }: KeyExplanationProps) {
  const { explanation, error, retry } = useExplanation(row);
  if (explanation === null) {
    return error === null ? (
      <Skeleton lines={6} label="Reading the workspace" />
    ) : (
      <ErrorState error={error} onRetry={retry} />
    );
  }
  const gaps = groupGaps(explanation.unusable);
  return (
    <div className="grid gap-6">
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      <Verdict explanation={explanation} />
      <ul className="grid gap-6 empty:hidden">
        <Some
          items={explanation.roles.filter(({ enabled, skills }) => enabled && skills.length > 0)}
          what="roles"
          max={rolesMax}
        >
          {(roles) =>
            roles.map((role) => (
              <li key={role.id}>
                <RoleSkills role={role} />
              </li>
            ))
          }
        </Some>
      </ul>
      {gaps.length > 0 && (
        <Section title="What it cannot use">
          <ul className="divide-y divide-border rounded-control border border-border">
            <Some items={gaps} what="reasons" max={gapsMax}>
              {(shown) => shown.map((group) => <GapGroup key={keyOf(group)} group={group} onSettings={onSettings} />)}
            </Some>
          </ul>
        </Section>
      )}
    </div>
  );
}

const rolesMax = 20;
const skillsMax = 20;
const gapsMax = 30;
const namesMax = 8;

function Verdict({ explanation }: { readonly explanation: Explanation }) {
  const { key, accepted } = explanation;
  const { skills, availableSkills, tools } = countUsable(explanation);
  if (!accepted) {
    return (
      <div className="grid gap-1 rounded-control bg-bad-soft px-4 py-3 text-13">
        <KeyState state={key.state} />
        <p>The platform refuses this key, so an agent with it can use nothing.</p>
      </div>
    );
  }
  return (
    <p className="text-13">
      {`An agent with it can use ${availableSkills} of ${counted(skills, 'skill')}, with ${counted(tools, 'tool')}. `}
      {key.disclosure === 'all'
        ? 'It lists all tools from the start.'
        : 'It lists the tools of a skill once it loads the skill.'}
    </p>
  );
}

function RoleSkills({ role: { name, skills } }: { readonly role: ExplainedRole }) {
  const unavailableFirst = skills.toSorted((one, other) => Number(one.available) - Number(other.available));
  return (
    <Section title={`Role ${name}`}>
      <ul className="divide-y divide-border rounded-control border border-border">
        <Some items={unavailableFirst} what="skills" max={skillsMax}>
          {(shown) => shown.map((skill) => <Skill key={skill.id} skill={skill} />)}
        </Some>
      </ul>
    </Section>
  );
}

function Skill({ skill: { id, name, available, reason, tools } }: { readonly skill: ExplainedSkill }) {
  const { workspace } = usePlace();
  const state = !available
    ? ({ tone: 'bad', word: 'unavailable' } as const)
    : tools.length === 0
      ? ({ tone: 'warn', word: 'without tools' } as const)
      : ({ tone: 'good', word: 'available' } as const);
  return (
    <li className="grid gap-1 px-4 py-2 text-13">
      <div className="flex items-baseline justify-between gap-4">
        <Link
          to="/w/$workspace/skills/$skill"
          params={{ workspace: workspace.id, skill: id }}
          className="min-w-0 truncate font-medium hover:underline"
        >
          {name}
        </Link>
        <StatusDot tone={state.tone}>{state.word}</StatusDot>
      </div>
      {!available && reason !== null && <p className="break-words text-quiet">{reason.message}</p>}
      {tools.length > 0 && <p className="break-words text-quiet">{namesOf(tools)}</p>}
    </li>
  );
}

const kindWords: Readonly<Record<Gap['kind'], readonly [one: string, more: string]>> = {
  key: ['Key', 'Keys'],
  workspace: ['Workspace', 'Workspaces'],
  role: ['Role', 'Roles'],
  skill: ['Skill', 'Skills'],
  tool: ['Tool', 'Tools'],
  mcpServer: ['MCP server', 'MCP servers'],
};

interface GapGroupProps {
  readonly group: readonly Gap[];
  readonly onSettings: () => void;
}

function GapGroup({ group, onSettings }: GapGroupProps) {
  const [first] = group;
  if (first === undefined) return null;
  const [one, more] = kindWords[first.kind];
  return (
    <li className="grid gap-1 px-4 py-2 text-13">
      <p className="break-words">
        <span className="text-quiet">{group.length === 1 ? one : more}</span>{' '}
        <span className="font-medium">{namesOf(group.map(({ name }) => name))}</span>
      </p>
      <p className="break-words text-quiet">{whyOf(group)}</p>
      <GapRepair change={first.change} onSettings={onSettings} />
    </li>
  );
}

function keyOf([first]: readonly Gap[]): string {
  return `${first?.kind} ${first?.why}`;
}

interface SomeProps<Item> {
  readonly items: readonly Item[];
  readonly what: string;
  readonly max: number;
  readonly children: (shown: readonly Item[]) => ReactNode;
}

/** The first of many, and the rest once a person asks for it. */
function Some<Item>({ items, what, max, children }: SomeProps<Item>) {
  const [isWhole, setWhole] = useState(false);
  const rest = items.length - max;
  return (
    <>
      {children(isWhole ? items : items.slice(0, max))}
      {rest > 0 && !isWhole && (
        <li className="list-none px-4 py-2">
          <button type="button" onClick={() => setWhole(true)} className="text-13 text-accent hover:underline">
            {`Show ${rest} more ${what}`}
          </button>
        </li>
      )}
    </>
  );
}

function namesOf(names: readonly string[]): string {
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  return names.slice(0, namesMax).join(', ') + more;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
