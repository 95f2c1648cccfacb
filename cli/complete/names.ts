import { type BackendClient, connectToBackend } from '../../stack/client/backend-client.ts';
import {
  completeIntegrationsQuery,
  completeKeysQuery,
  completeMcpServersQuery,
  completeRolesQuery,
  completeRuntimesQuery,
  completeSkillsQuery,
  completeToolsQuery,
  completeWorkspacesQuery,
} from '../../stack/client/generated/operations.ts';
import { readContainers } from '../../stack/state/containers-record.ts';
import { findRunning } from '../../stack/state/find-running.ts';
import type { Installation } from '../../stack/state/installation.ts';
import type { Noun } from './complete.ts';

/** A person who pressed Tab waits no longer. */
const timeoutMs = 1000;

export interface Wanted {
  readonly noun: Noun;
  readonly workspace: string;
  /** Beginning of the name. */
  readonly begun: string;
}

/** Names of a running platform. Throws when none runs. */
export async function findNames(installation: Installation, wanted: Wanted): Promise<readonly string[]> {
  if (wanted.noun === 'service') return serviceNames(installation);
  const backend = await connectToBackend(installation);
  if (wanted.noun !== 'tool') return await namesOf(backend, wanted);
  const [server = '', tool] = wanted.begun.split('/');
  if (tool === undefined) {
    return (await namesOf(backend, { ...wanted, noun: 'MCP server' })).map((name) => `${name}/`);
  }
  const answer = await backend.send(completeToolsQuery, { workspace: wanted.workspace, server }, { timeoutMs });
  const tools = answer.workspace?.mcpServer?.tools.nodes ?? [];
  // The name of a tool is the choice of its MCP server.
  return tools.flatMap(({ originalName }) => (/^[\w.-]+$/.test(originalName) ? [`${server}/${originalName}`] : []));
}

function serviceNames(installation: Installation): readonly string[] {
  const containers = readContainers(installation);
  const record = containers?.isUp ? containers : findRunning(installation)?.record;
  return record?.services.map(({ name }) => name) ?? [];
}

async function namesOf(backend: BackendClient, { noun, workspace, begun }: Wanted): Promise<readonly string[]> {
  const asked = { workspace, search: begun === '' ? null : begun };
  const options = { timeoutMs };
  if (noun === 'integration') {
    const { workspace: found } = await backend.send(completeIntegrationsQuery, { workspace }, options);
    return found?.integrations.nodes.flatMap(({ mcpServer }) => mcpServer?.name ?? []) ?? [];
  }
  const list = async () => {
    if (noun === 'MCP server')
      return (await backend.send(completeMcpServersQuery, asked, options)).workspace?.mcpServers;
    if (noun === 'skill') return (await backend.send(completeSkillsQuery, asked, options)).workspace?.skills;
    if (noun === 'role') return (await backend.send(completeRolesQuery, asked, options)).workspace?.roles;
    if (noun === 'runtime')
      return (await backend.send(completeRuntimesQuery, { workspace }, options)).workspace?.runtimes;
    if (noun === 'workspace') return (await backend.send(completeWorkspacesQuery, asked, options)).workspaces;
    const keys = (await backend.send(completeKeysQuery, asked, options)).workspace?.keys;
    return keys && { nodes: keys.nodes.filter(({ state }) => state !== 'revoked') };
  };
  return (await list())?.nodes.map(({ name }) => name) ?? [];
}
