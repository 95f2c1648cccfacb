import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { snippetsFor } from '../../../contracts/clients/snippet.ts';
import { keysUrl, mcpUrl } from '../../app/environment.ts';
import { usePlace } from '../../app/workspace.ts';
import { classNames } from '../../components/class-names.ts';
import { Icon } from '../../components/icon.tsx';
import { Snippet, SnippetTabs } from '../../components/snippet.tsx';
import type { Beginning } from './use-beginning.ts';

/** The steps to the first call of an agent. */
export function GetStarted({ state }: { readonly state: Beginning }) {
  const { workspace, mayConfigure, mayEdit } = usePlace();
  const tabs = useMemo(() => snippetsFor(keysUrl), []);
  const at = { workspace: workspace.id };
  const next = [state.hasServers, state.hasSkills, state.hasFilledRole, state.hasKeys, false].indexOf(false) + 1;
  const ofAdmins = 'Owners and admins do this.';
  const ofEditors = 'Owners, admins and editors do this.';
  return (
    <section aria-labelledby="get-started" className="grid gap-4">
      <header>
        <h2 id="get-started" className="font-semibold text-16">
          Connect an agent
        </h2>
        <p className="max-w-text text-13 text-quiet">
          Nothing was called yet. After the first call, this page shows the usage.
        </p>
      </header>
      <ol className="divide-y divide-border rounded-control border border-border bg-surface">
        <Step next={next} number={1} title="Add an MCP server" about="It offers the tools." isDone={state.hasServers}>
          {mayConfigure ? (
            <Link to="/w/$workspace/settings/mcp-servers" params={at} search={{ add: true }} className={linkClass}>
              Add MCP server
            </Link>
          ) : (
            ofAdmins
          )}
        </Step>
        <Step
          next={next}
          number={2}
          title="Create a skill"
          about="Some of the tools, with instructions."
          isDone={state.hasSkills}
        >
          {mayEdit ? (
            <Link to="/w/$workspace/skills" params={at} search={{ add: true }} className={linkClass}>
              Create skill
            </Link>
          ) : (
            ofEditors
          )}
        </Step>
        <Step
          next={next}
          number={3}
          title="Put the skill into a role"
          about="An agent gets the skills of the roles of its key."
          isDone={state.hasFilledRole}
        >
          {mayEdit ? (
            <Link to="/w/$workspace/roles" params={at} className={linkClass}>
              Open roles
            </Link>
          ) : (
            ofEditors
          )}
        </Step>
        <Step
          next={next}
          number={4}
          title="Create an API key"
          about="The agent shows it to connect."
          isDone={state.hasKeys}
        >
          <Link to="/w/$workspace/profile/api-keys" params={at} search={{ add: true }} className={linkClass}>
            Create key
          </Link>
        </Step>
        <Step next={next} number={5} title="Give your agent the address" about="Choose your agent, and copy.">
          {null}
        </Step>
      </ol>
      <SnippetTabs label="Client" tabs={tabs} />
      <div className="grid gap-2 text-13">
        <p className="max-w-text text-quiet">
          The agent reads the key from the variable <code>SVC_API_KEY</code>, asks for it, or takes it in place of the
          dots. An agent that can sign in needs the address alone, and no key:
        </p>
        <Snippet text={mcpUrl} />
      </div>
    </section>
  );
}

interface StepProps {
  /** The number of the first step that is not done. */
  readonly next: number;
  readonly number: number;
  readonly title: string;
  readonly about: string;
  readonly isDone?: boolean;
  /** What does the step, while it is not done. */
  readonly children: ReactNode;
}

function Step({ next, number, title, about, isDone = false, children }: StepProps) {
  return (
    <li
      data-next={number === next || undefined}
      className="group flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 tablet:flex-nowrap"
    >
      <span
        className={classNames(
          'inline-flex size-6 shrink-0 items-center justify-center rounded-dot text-12',
          isDone ? 'text-good' : 'bg-active text-quiet',
        )}
      >
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className="min-w-0 flex-1">
        <p className={classNames('font-medium', isDone && 'text-quiet')}>
          {title}
          {isDone && <span className="sr-only">: done</span>}
        </p>
        <p className="text-13 text-quiet">{about}</p>
      </div>
      {!isDone && children !== null && <div className="text-13 text-quiet">{children}</div>}
    </li>
  );
}

const linkClass =
  'inline-flex h-11 items-center rounded-control border border-border bg-surface px-3 font-medium text-text hover:bg-hover tablet:h-8 group-data-next:border-transparent group-data-next:bg-solid group-data-next:text-on-solid group-data-next:hover:bg-solid-hover';
