import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { pipe, subscribe } from 'wonka';
import { showToast } from '../components/toast.tsx';
import { useDelayed } from '../components/use-delayed.ts';
import { client, send, toShownError } from '../graphql/client.ts';
import {
  type FoundQuery,
  foundQuery,
  restartableMcpServersQuery,
  restartMcpServerMutation,
} from '../graphql/generated/operations.ts';
import type { Operation } from '../graphql/operation.ts';
import { type ShownError, shownErrorOf } from '../graphql/shown-error.ts';
import { entriesNamed, hasEntries, type PaletteGroup } from './palette-entry.ts';
import type { Place } from './workspace.ts';

interface Found {
  readonly groups: readonly PaletteGroup[];
  readonly error: ShownError | null;
  /** The answer to the text as it is now has not arrived. */
  readonly isAsking: boolean;
}

const nothing: Found = { groups: [], error: null, isAsking: false };

/** What the backend finds by a text in the workspace, once a person pauses in typing. */
export function useFound(place: Place | null, text: string): Found {
  const navigate = useNavigate();
  const isPaused = place === null || text === '';
  const variables = { workspace: place?.workspace.id ?? '', mayConfigure: place?.mayConfigure ?? false };
  const search = useDelayed(text);
  const answer = useAnswer(foundQuery, { ...variables, search }, isPaused || search === '');
  if (isPaused) return nothing;
  const isAsking = answer?.search !== text;
  const groups = answer?.data === undefined ? [] : groupsOf(answer.data, variables.workspace, navigate);
  // What was found by an earlier text stays if the present one would find it, so that no key opens anything else.
  return { groups: isAsking ? entriesNamed(groups, text) : groups, error: answer?.error ?? null, isAsking };
}

/** The MCP servers that the person can restart, found by a text. Null: none are asked for. */
export function useRestarts(place: Place | null, text: string | null): Found {
  const isPaused = place === null || text === null;
  const workspace = place?.workspace.id ?? '';
  const answer = useAnswer(restartableMcpServersQuery, { workspace, search: useDelayed(text ?? '') }, isPaused);
  if (isPaused) return nothing;
  const nodes = answer?.data?.workspace?.mcpServers.nodes ?? [];
  const entries = nodes
    .filter(({ enabled }) => enabled)
    .map(({ id, name }) => ({
      ...{ id: `restart ${id}`, title: `Restart ${name}`, icon: 'server' as const },
      run: () => restart(name, { workspace, id }),
    }));
  const isAsking = answer?.search !== text;
  const groups = [{ title: 'MCP servers', entries }].filter(hasEntries);
  return { groups: isAsking ? entriesNamed(groups, text) : groups, error: answer?.error ?? null, isAsking };
}

async function restart(name: string, mcpServer: { readonly workspace: string; readonly id: string }): Promise<void> {
  try {
    await send(restartMcpServerMutation, mcpServer);
    showToast(`${name} restarts.`);
  } catch (thrown) {
    showToast(shownErrorOf(thrown).message);
  }
}

interface SearchAnswer<Result> {
  readonly search: string;
  readonly data: Result | undefined;
  readonly error: ShownError | null;
}

/** The latest answer. A question that is not asked any more is cancelled. */
function useAnswer<Result, Variables extends { readonly search: string }>(
  { text }: Operation<Result, Variables>,
  variables: Variables,
  isPaused: boolean,
): SearchAnswer<Result> | null {
  const [answer, setAnswer] = useState<SearchAnswer<Result> | null>(null);
  const asked = JSON.stringify(variables);
  useEffect(() => {
    if (isPaused) return;
    const present: Variables = JSON.parse(asked);
    const { unsubscribe } = pipe(
      client.query<Result>(text, present),
      subscribe(({ data, error }) =>
        setAnswer({ search: present.search, data, error: error === undefined ? null : toShownError(error) }),
      ),
    );
    return unsubscribe;
  }, [text, asked, isPaused]);
  return answer;
}

type Navigate = ReturnType<typeof useNavigate>;

function groupsOf({ workspace }: FoundQuery, id: string, navigate: Navigate): readonly PaletteGroup[] {
  if (workspace == null) return [];
  const params = { workspace: id };
  const { mcpServers, tools, runtimes, members, ownKeys } = workspace;
  const mcpServer = (panel: string) => () =>
    navigate({ to: '/w/$workspace/settings/mcp-servers', params, search: { panel } });
  const groups: readonly PaletteGroup[] = [
    {
      title: 'Skills',
      entries: withExact(workspace.skill, workspace.skills.nodes).map(({ id: skill, name }) => ({
        ...{ id: skill, title: name, icon: 'skill' },
        run: () => navigate({ to: '/w/$workspace/skills/$skill', params: { ...params, skill }, search: {} }),
      })),
    },
    {
      title: 'Roles',
      entries: withExact(workspace.role, workspace.roles.nodes).map(({ id: panel, name }) => ({
        ...{ id: panel, title: name, icon: 'role' },
        run: () => navigate({ to: '/w/$workspace/roles', params, search: { panel } }),
      })),
    },
    {
      title: 'MCP servers',
      entries: mcpServers.nodes.map(({ id: panel, name }) => ({
        ...{ id: panel, title: name, icon: 'server', run: mcpServer(panel) },
      })),
    },
    {
      title: 'Integrations',
      entries: mcpServers.nodes.flatMap(({ name, integration }) =>
        integration === null || integration === undefined
          ? []
          : [
              {
                ...{ id: integration.id, title: name, icon: 'integration' },
                run: () =>
                  navigate({
                    to: '/w/$workspace/settings/integrations',
                    params,
                    search: { panel: integration.id },
                  }),
              },
            ],
      ),
    },
    {
      title: 'Tools',
      entries: tools.nodes.map((tool) => ({
        ...{ id: tool.id, title: tool.originalName, detail: tool.mcpServer.name, icon: 'skill' },
        run: mcpServer(tool.mcpServer.id),
      })),
    },
    {
      title: 'Runtimes',
      entries: runtimes.nodes.map(({ id: panel, name }) => ({
        ...{ id: panel, title: name, icon: 'runtime' },
        run: () => navigate({ to: '/w/$workspace/settings/runtimes', params, search: { panel } }),
      })),
    },
    {
      title: 'Members',
      entries: (members?.nodes ?? []).map(({ id: panel, person }) => ({
        ...{ id: panel, title: person.name, detail: person.email, icon: 'members' },
        run: () => navigate({ to: '/w/$workspace/settings/members', params, search: { panel } }),
      })),
    },
    {
      title: 'Your API keys and agents',
      entries: ownKeys.map(({ id: panel, name, client: agent }) =>
        agent === null || agent === undefined
          ? {
              ...{ id: panel, title: name, icon: 'key' },
              run: () => navigate({ to: '/w/$workspace/profile/api-keys', params, search: { panel } }),
            }
          : {
              ...{ id: panel, title: name, icon: 'agent' },
              run: () => navigate({ to: '/w/$workspace/profile/connected-agents', params, search: { panel } }),
            },
      ),
    },
  ];
  return groups.filter(hasEntries);
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The one with exactly this name first. It may be missing among those with the words in their descriptions. */
function withExact(exact: Named | null | undefined, found: readonly Named[]): readonly Named[] {
  return exact === null || exact === undefined ? found : [exact, ...found.filter(({ id }) => id !== exact.id)];
}
