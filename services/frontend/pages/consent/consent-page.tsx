import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { AgentRequest, OfferedRoles } from '../../../contracts/browser-answers.ts';
import { type AgentScope, readScope, toolsScope } from '../../../contracts/token.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine, ErrorState } from '../../components/error-state.tsx';
import { Requirement } from '../../components/form.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useAction } from '../../components/use-action.ts';
import { answerAgent, readAgentRequest, readOfferedRoles } from '../../graphql/agent-request.ts';
import { useRead } from '../../graphql/use-read.ts';
import { Question } from '../question.tsx';

/** An agent asks for access: the person chooses the workspace and the roles, or refuses. */
export function ConsentPage() {
  const { request: id } = useParams({ from: '/connect/$request' });
  const { data: request, error } = useRead(id, () => readAgentRequest(id));
  if (error !== null) {
    return (
      <Question title="The agent cannot be connected">
        <ErrorState error={error} />
      </Question>
    );
  }
  if (request === null) {
    return (
      <Question title="Connect an agent">
        <Skeleton lines={4} label="Reading the request of the agent" />
      </Question>
    );
  }
  return <Consent id={id} request={request} />;
}

function Consent({ id, request }: { readonly id: string; readonly request: AgentRequest }) {
  const { client, workspaces } = request;
  const [chosen, setChosen] = useState(workspaces[0]?.id ?? '');
  const [scope, setScope] = useState(request.scopes[0] ?? readScope);
  const [roles, setRoles] = useState<ReadonlySet<string> | null>(null);
  const offered = useRead(chosen, async () => (chosen === '' ? noRoles : await readOfferedRoles(id, chosen)));
  const connect = useAction(async () => {
    const answer = { workspace: chosen, roles: roles === null ? null : [...roles], scope };
    window.location.assign(await answerAgent(id, 'consent', answer));
  });
  const refuse = useAction(async () => window.location.assign(await answerAgent(id, 'refuse', {})));
  const select = (to: string) => {
    setChosen(to);
    setRoles(null);
  };
  return (
    <Question title={`Connect ${client.name}?`}>
      <p>
        <strong className="font-medium">{client.name}</strong> asks to{' '}
        {request.scopes.includes(toolsScope) ? 'use tools' : 'use read-only tools'} as you. Your answer goes to{' '}
        <strong className="break-all font-medium">{client.redirectHost}</strong>.
      </p>
      {client.isLocal && (
        <p className="rounded-control border border-border bg-warn-soft px-4 py-3 text-13">
          It is a program on this computer, and any program here could use this name. Connect it only if you have just
          started it.
        </p>
      )}
      {chosen === '' ? (
        <p role="alert" className="text-bad">
          You are in no workspace that an agent could use.
        </p>
      ) : (
        <>
          <SelectField
            label="Workspace"
            value={chosen}
            options={workspaces.map(({ id: value, name: title }) => ({ value, title }))}
            onValue={select}
          />
          <RoleChoice offered={offered.data ?? noRoles} roles={roles} onChoose={setRoles} />
          <ScopeChoice scopes={request.scopes} chosen={scope} onChoose={setScope} />
        </>
      )}
      <ErrorLine error={connect.error ?? refuse.error ?? offered.error} />
      <div className="flex justify-end gap-2">
        <Button isBusy={refuse.isBusy} onClick={refuse.run}>
          Refuse
        </Button>
        <Button
          look="primary"
          disabled={chosen === '' || roles?.size === 0}
          isBusy={connect.isBusy}
          onClick={connect.run}
        >
          Connect
        </Button>
      </div>
      <p className="text-12 text-quiet">You can disconnect it at any time, under Connected agents.</p>
    </Question>
  );
}

interface ScopeChoiceProps {
  readonly scopes: readonly AgentScope[];
  readonly chosen: AgentScope;
  readonly onChoose: (scope: AgentScope) => void;
}

const scopeWords: Readonly<Record<AgentScope, { readonly title: string; readonly about: string }>> = {
  [toolsScope]: { title: 'Use every tool', about: 'It can read, and it can change and delete things.' },
  [readScope]: { title: 'Only read', about: 'It can use the tools that change nothing, as their MCP servers say.' },
};

function ScopeChoice({ scopes, chosen, onChoose }: ScopeChoiceProps) {
  const options = scopes.map((scope) => ({ value: scope, ...scopeWords[scope] }));
  return <RadioGroup legend="What it may do" options={options} value={chosen} onValue={onChoose} />;
}

interface RoleChoiceProps {
  readonly offered: OfferedRoles;
  /** Null: every role of the workspace. */
  readonly roles: ReadonlySet<string> | null;
  readonly onChoose: (roles: ReadonlySet<string> | null) => void;
}

const noRoles: OfferedRoles = { roles: [], hasMore: false };
const everyRole = { value: 'every', title: 'Every role, also later ones' } as const;
const someRoles = { value: 'some', title: 'Only these roles' } as const;

function RoleChoice({ offered, roles, onChoose }: RoleChoiceProps) {
  const toggle = (role: string) => onChoose((roles ?? new Set<string>()).symmetricDifference(new Set([role])));
  return (
    <RadioGroup
      legend="What it may use"
      options={offered.roles.length > 0 ? [everyRole, someRoles] : [everyRole]}
      value={roles === null ? 'every' : 'some'}
      onValue={(value) => onChoose(value === 'every' ? null : new Set())}
    >
      {roles !== null && (
        <div className="grid gap-1 pl-7">
          {offered.roles.map((role) => (
            <label
              key={role.id}
              className="flex min-h-11 items-center gap-3 py-1 text-14 tablet:min-h-8 tablet:text-13"
            >
              <input
                type="checkbox"
                checked={roles.has(role.id)}
                onChange={() => toggle(role.id)}
                className="size-4 shrink-0 accent-solid"
              />
              <span className="min-w-0">
                <span className="break-words">{role.name}</span>
                {role.description !== '' && <span className="block text-12 text-quiet">{role.description}</span>}
              </span>
            </label>
          ))}
          {offered.hasMore && (
            <p className="text-12 text-quiet">
              {`These are the first ${offered.roles.length} roles by name. An API key can be limited to any of the others.`}
            </p>
          )}
          <Requirement isMet={roles.size > 0}>Choose at least one role.</Requirement>
        </div>
      )}
    </RadioGroup>
  );
}
