import type { CatalogueEntry } from '../../contracts/catalogue.ts';
import { findId, type WorkspaceId } from '../../contracts/ids.ts';
import { hasLimits } from '../../contracts/tool-rules.ts';
import {
  filesOfSkillMax,
  patternsOfSkillMax,
  rulesOfRoleMax,
  toolsOfSkillMax,
} from '../../contracts/workspace-limits.ts';
import { everyPage } from '../graph/every-page.ts';
import { edgesMax, type Node, pageMax, type Transaction } from '../graph/graph.ts';
import { limitsOf } from '../roles/tool-rules.ts';
import { stateOf } from '../servers/status.ts';

/** Nodes read at once: a page must not hold the event loop for more than a few milliseconds. */
const toolPageMax = 100;
/** Small pages, because instructions may be long. */
const skillPageMax = 20;
/** Edges followed from one node; the limits of skills and roles allow no more. */
const edgesEach = pageMax;
/** Nodes whose edges are followed at once, even if each has the maximum. */
const followedMax = edgesMax / edgesEach;

/** A graph, or a transaction that sees all data at one moment. */
export type CatalogueSource = Pick<Transaction, 'find' | 'select' | 'follow' | 'followBack'>;

/** What the remote-mcp that pulls the catalogue can do. */
export interface CatalogueReader {
  /** An older one does not: for it, a role with rules is disabled, because it would let every tool pass. */
  readonly appliesRules: boolean;
}

type Tagged = Pick<Node<'workspace'>, 'revision' | 'statusRevision'>;

/** Equal tags mean equal catalogues: every change of it raises one of the two. */
export function tagOf({ revision, statusRevision }: Tagged): string {
  return `"${revision}.${statusRevision}"`;
}

/**
 * Reads a workspace's catalogue in slices of entries. Outside of a transaction, other work may change it between two
 * slices; then it ends without the entry `end`, and the reader reads again.
 */
export async function* readCatalogue(
  graph: CatalogueSource,
  workspace: Node<'workspace'>,
  reader: CatalogueReader,
): AsyncGenerator<readonly CatalogueEntry[], void, undefined> {
  const { id, name, suspended, revision, statusRevision } = workspace;
  yield [{ entry: 'head', workspace: id, name, suspended, version: revision, statusVersion: statusRevision }];
  let entries = 1;
  for (const part of [mcpServers, tools, skills, roles]) {
    for await (const slice of part(graph, id, reader)) {
      if (!(await isUnchanged(graph, workspace))) return;
      entries += slice.length;
      if (slice.length > 0) yield slice;
    }
  }
  yield [{ entry: 'end', entries: entries + 1 }];
}

async function isUnchanged(graph: CatalogueSource, before: Node<'workspace'>): Promise<boolean> {
  const now = await graph.find('workspace', before.id, null);
  return now !== null && tagOf(now) === tagOf(before);
}

type SkillEntry = Extract<CatalogueEntry, { entry: 'skill' }>;
type Slices = AsyncGenerator<readonly CatalogueEntry[], void, undefined>;

async function* mcpServers(graph: CatalogueSource, anchor: WorkspaceId): Slices {
  for await (const servers of everyPage(graph, { type: 'mcpServer', anchor, limit: followedMax })) {
    const options = { anchor, limitEach: edgesEach };
    const statuses = await graph.followBack({ from: 'status', edge: 'server' }, idsOf(servers), options);
    const bound = await graph.follow({ from: 'mcpServer', edge: 'runtimes' }, idsOf(servers), options);
    yield servers.map((server) => {
      const runtimes = bound.get(server.id) ?? [];
      const state = stateOf(server, statuses.get(server.id) ?? [], runtimes);
      const { status, health, reason, nextRetryAt, processes } = state;
      const { id, name, callTimeout } = server;
      return {
        ...{ entry: 'mcpServer', id, name, status, health, reason, nextRetryAt },
        runtimes: runtimes.map((runtime) => runtime.name),
        processes: [...processes],
        callTimeout,
      };
    });
  }
}

async function* tools(graph: CatalogueSource, anchor: WorkspaceId): Slices {
  for await (const nodes of everyPage(graph, { type: 'tool', anchor, limit: toolPageMax })) {
    yield nodes.flatMap(toolEntry);
  }
}

function toolEntry(tool: Node<'tool'>): readonly CatalogueEntry[] {
  const { id, name, originalName, definition, listed } = tool;
  const mcpServer = findId('mcpServer', tool.mcpServer);
  if (!listed || name === null || definition === null || mcpServer === null) return [];
  return [{ entry: 'tool', id, mcpServer, name, originalName, definition }];
}

async function* skills(graph: CatalogueSource, anchor: WorkspaceId): Slices {
  const nameOf = serverNames(graph, anchor);
  for await (const page of everyPage(graph, { type: 'skill', anchor, limit: skillPageMax })) {
    const options = { anchor, limitEach: toolsOfSkillMax };
    const tools = await graph.follow({ from: 'skill', edge: 'tools' }, idsOf(page), options);
    const carried = { anchor, limitEach: filesOfSkillMax };
    const files = await graph.followBack({ from: 'file', edge: 'of' }, idsOf(page), carried);
    const followed = { anchor, limitEach: patternsOfSkillMax };
    const patterns = await graph.followBack({ from: 'toolPattern', edge: 'of' }, idsOf(page), followed);
    const entries = page.map(async (skill) => ({
      ...(await skillEntry(skill, tools.get(skill.id) ?? [], patterns.get(skill.id) ?? [], nameOf)),
      files: filesOf(files.get(skill.id) ?? []),
    }));
    yield await Promise.all(entries);
  }
}

async function skillEntry(
  { id, name, description, instructions }: Node<'skill'>,
  tools: readonly Node<'tool'>[],
  patterns: readonly Node<'toolPattern'>[],
  nameOf: (mcpServer: string) => Promise<string>,
): Promise<Omit<SkillEntry, 'files'>> {
  const missing = tools.filter((tool) => !tool.listed);
  const mcpServers = new Set([...tools, ...patterns].map(({ mcpServer }) => mcpServer));
  return {
    ...{ entry: 'skill', id, name, description, instructions },
    tools: tools.filter((tool) => tool.listed).map((tool) => tool.id),
    missingTools: await Promise.all(
      missing.map(async (tool) => `${await nameOf(tool.mcpServer)}/${tool.originalName}`),
    ),
    mcpServers: [...mcpServers].flatMap((text) => findId('mcpServer', text) ?? []),
    patterns: patterns.flatMap(({ mcpServer: text, pattern }) => {
      const mcpServer = findId('mcpServer', text);
      return mcpServer === null ? [] : [{ mcpServer, pattern }];
    }),
  };
}

function filesOf(files: readonly Node<'file'>[]): SkillEntry['files'] {
  return files
    .map(({ id, path, sizeBytes }) => ({ id, path, sizeBytes }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function* roles(graph: CatalogueSource, anchor: WorkspaceId, { appliesRules }: CatalogueReader): Slices {
  for await (const page of everyPage(graph, { type: 'role', anchor, limit: followedMax })) {
    const options = { anchor, limitEach: edgesEach };
    const skills = await graph.follow({ from: 'role', edge: 'skills' }, idsOf(page), options);
    const ruled = { anchor, limitEach: rulesOfRoleMax };
    const ruleNodes = await graph.followBack({ from: 'toolRule', edge: 'of' }, idsOf(page), ruled);
    yield page.map((role) => {
      const { id, name, description } = role;
      const limits = limitsOf(role, ruleNodes.get(id) ?? []);
      const enabled = role.enabled && (appliesRules || !hasLimits(limits));
      return { entry: 'role', id, name, description, enabled, skills: idsOf(skills.get(id) ?? []), ...limits };
    });
  }
}

/** Names of MCP servers, each looked up once. */
function serverNames(graph: CatalogueSource, anchor: WorkspaceId): (mcpServer: string) => Promise<string> {
  const names = new Map<string, Promise<string>>();
  const lookUp = async (text: string) => {
    const id = findId('mcpServer', text);
    return (id === null ? null : await graph.find('mcpServer', id, anchor))?.name ?? text;
  };
  return (text) => {
    const name = names.get(text) ?? lookUp(text);
    names.set(text, name);
    return name;
  };
}

function idsOf<Id>(nodes: readonly { readonly id: Id }[]): Id[] {
  return nodes.map(({ id }) => id);
}
