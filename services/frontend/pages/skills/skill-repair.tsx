import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { enableMcpServerMutation, restartMcpServerMutation, type ToolRef } from '../../graphql/generated/operations.ts';
import { withoutCommands } from '../../graphql/without-commands.ts';
import { changeTools, tellFailure } from './change-skill.ts';
import type { Skill } from './shown-skill.ts';

type Server = Skill['mcpServers'][number];

/** Why agents cannot use the skill, or a part of it, with the button that repairs it. */
export function SkillRepair({ skill }: { readonly skill: Skill }) {
  const { reason } = skill;
  if (reason === null || reason === undefined) return null;
  const down = skill.mcpServers.filter(({ status }) => status !== 'Connected');
  if (!skill.available && down.length > 0) {
    return (
      <div className="grid gap-2">
        {down.map((server) => (
          <ServerProblem key={server.id} server={server} />
        ))}
      </div>
    );
  }
  if (reason.code === 'missing_tool') return <MissingTools skill={skill} />;
  return (
    <Problem message={reason.message}>
      {reason.code === 'too_many_tools' ? (
        <p className="text-13">Remove a pattern, or follow a narrower one.</p>
      ) : (
        <p className="break-words text-13">{withoutCommands(reason.repair)}</p>
      )}
    </Problem>
  );
}

/** What only other settings repair: the same launch would fail in the same way. */
const repairedBySettings: ReadonlySet<string> = new Set([
  ...[
    'missing_settings',
    'setting_missing',
    'command_refused',
    'command_not_found',
    'not_executable',
    'arguments_wrong',
  ],
  ...['launch_too_large', 'package_not_found', 'package_without_command', 'folder_not_named'],
]);

/** These repair themselves, or by a runtime. */
const repairedElsewhere: ReadonlySet<string> = new Set(['starting', 'no_runtime', 'runtime_revoked', 'stopped']);

function ServerProblem({ server }: { readonly server: Server }) {
  const { workspace, mayConfigure } = usePlace();
  const { id, name, enabled, version, status, reason } = server;
  const at = { workspace: workspace.id, id };
  const code = reason?.code ?? '';
  const isRestartable = enabled && !repairedBySettings.has(code) && !repairedElsewhere.has(code);
  const repair = useAction(async () => {
    if (enabled) await send(restartMcpServerMutation, at);
    else await send(enableMcpServerMutation, { ...at, enabled: true, ifVersion: version });
    showToast(enabled ? `${name} restarts.` : `${name} is on.`);
  });
  return (
    <Problem message={`The MCP server "${name}" is ${status}. ${reason?.message ?? ''}`}>
      {!enabled ? (
        !mayConfigure && <p className="text-13">An owner or an admin can enable it.</p>
      ) : isRestartable ? (
        !mayConfigure && <p className="text-13">An owner or an admin can restart it.</p>
      ) : (
        <p className="break-words text-13">{reason && withoutCommands(reason.repair)}</p>
      )}
      <div className="flex flex-wrap items-center gap-2 pt-1">
        {mayConfigure && (!enabled || isRestartable) && (
          <Button isSmall onClick={repair.run} isBusy={repair.isBusy}>
            {enabled ? `Restart ${name}` : `Enable ${name}`}
          </Button>
        )}
        <Link
          to="/w/$workspace/settings/mcp-servers"
          params={{ workspace: workspace.id }}
          search={{ panel: id }}
          className="inline-flex h-9 items-center rounded-control border border-border bg-surface px-3 font-medium text-13 hover:bg-hover tablet:h-7"
        >
          Open the MCP server
        </Link>
      </div>
      <ErrorLine error={repair.error} />
    </Problem>
  );
}

function MissingTools({ skill }: { readonly skill: Skill }) {
  const { workspace, mayEdit } = usePlace();
  const named = new Set(skill.namedTools.map(({ id }) => id));
  const missing = skill.tools.filter(({ id, listed }) => !listed && named.has(id));
  const names = missing.map(({ mcpServer, originalName }) => `${mcpServer.name}/${originalName}`);
  const isMissing = ({ mcpServer, tool }: ToolRef) => names.includes(`${mcpServer}/${tool}`);
  const remove = useAction(async () => {
    const at = { workspace: workspace.id, id: skill.id };
    const before = await changeTools(at, (refs) => refs.filter((ref) => !isMissing(ref)));
    showToast(`${counted(missing.length)} removed from ${skill.name}.`, () => {
      const removed = before.filter(isMissing);
      changeTools(at, (refs) => [...refs.filter((ref) => !isMissing(ref)), ...removed]).catch(tellFailure);
    });
  });
  return (
    <Problem
      message={`${missing.length === 1 ? 'A tool of the skill is' : `${missing.length} tools of the skill are`} not offered by its MCP server now: ${names.slice(0, shownMax).join(', ')}${names.length > shownMax ? ' and others' : ''}.`}
    >
      <p className="text-13">Agents can use the other tools.</p>
      {mayEdit && missing.length > 0 && (
        <div className="pt-1">
          <Button isSmall onClick={remove.run} isBusy={remove.isBusy}>
            {`Remove ${counted(missing.length)} from the skill`}
          </Button>
        </div>
      )}
      <ErrorLine error={remove.error} />
    </Problem>
  );
}

/** More names help nobody; all are in the list of tools. */
const shownMax = 5;

function counted(count: number): string {
  return `${count} ${count === 1 ? 'tool' : 'tools'}`;
}

function Problem({ message, children }: { readonly message: string; readonly children: ReactNode }) {
  return (
    <div role="status" className="grid gap-1 rounded-control border border-border bg-warn-soft px-4 py-3">
      <p className="break-words font-medium text-13">{message}</p>
      {children}
    </div>
  );
}
