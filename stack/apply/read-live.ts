import { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { authors } from '../../services/contracts/sandbox.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { readPages } from '../client/read-pages.ts';
import type { Launch } from './wanted.ts';

const mcpServer = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  version: z.number(),
  launch: z
    .object({
      command: z.string().nullable(),
      args: z.array(z.string()).nullable(),
      cwd: z.string().nullable(),
      url: z.string().nullable(),
      fingerprint: z.string(),
      setBy: z.enum(authors),
    })
    .nullable(),
  runtimes: z.array(z.object({ name: z.string(), platform: z.boolean() })),
});
const skill = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  instructions: z.string(),
  version: z.number(),
  tools: z.array(z.object({ originalName: z.string(), mcpServer: z.object({ name: z.string() }) })),
});
const role = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  version: z.number(),
  skills: z.array(z.object({ id: z.string(), name: z.string() })),
});

export type LiveMcpServer = z.infer<typeof mcpServer>;
export type LiveSkill = z.infer<typeof skill>;
export type LiveRole = z.infer<typeof role>;

/** What a workspace holds now. */
export interface Live {
  readonly workspaceId: string;
  readonly mcpServers: readonly LiveMcpServer[];
  readonly skills: readonly LiveSkill[];
  readonly roles: readonly LiveRole[];
  /** Names of the runtimes that MCP servers may be bound to. */
  readonly runtimes: readonly string[];
}

export async function readLive(backend: BackendClient, workspace: string, signal: AbortSignal): Promise<Live> {
  const workspaceId = await findWorkspace(backend, workspace, signal);
  const readAll = <Item extends z.ZodType>(list: string, fields: string, item: Item) =>
    readPages({ backend, workspaceId, list, fields, item, signal });
  const [mcpServers, skills, roles, runtimes] = await Promise.all([
    readAll(
      'mcpServers',
      'id name enabled version launch { command args cwd url fingerprint setBy } runtimes { name platform }',
      mcpServer,
    ),
    readAll(
      'skills',
      'id name description instructions version tools(first: 1000) { originalName mcpServer { name } }',
      skill,
    ),
    readAll('roles', 'id name description enabled version skills(first: 1000) { id name }', role),
    readRuntimes(backend, workspaceId, signal),
  ]);
  return { workspaceId, mcpServers, skills, roles, runtimes };
}

const named = z.object({ nodes: z.array(z.object({ name: z.string() })) });
const runtimesAnswer = z.object({ workspace: z.object({ runtimes: named }), platformRuntimes: named });

/** The first page of each: the backend looks for a name among no more. */
async function readRuntimes(backend: BackendClient, id: string, signal: AbortSignal): Promise<readonly string[]> {
  const query = `query ($id: ID) {
    workspace(id: $id) { runtimes { nodes { name } } } platformRuntimes { nodes { name } }
  }`;
  const { workspace, platformRuntimes } = await backend.query(query, { id }, runtimesAnswer.parse, { signal });
  return [...workspace.runtimes.nodes, ...platformRuntimes.nodes].map(({ name }) => name);
}

async function findWorkspace(backend: BackendClient, name: string, signal: AbortSignal): Promise<string> {
  const { workspace } = await backend.query(
    'query ($name: String) { workspace(name: $name) { id } }',
    { name },
    z.object({ workspace: z.object({ id: z.string() }).nullable() }).parse,
    { signal },
  );
  if (workspace !== null) return workspace.id;
  const { workspaces } = await backend.query(
    '{ workspaces { nodes { name } } }',
    {},
    z.object({ workspaces: z.object({ nodes: z.array(z.object({ name: z.string() })) }) }).parse,
    { signal },
  );
  const names = workspaces.nodes.map((known) => known.name);
  throw new SvcError('not_found', `There is no workspace "${name}". ${suggestion(name, names)}`);
}

/** The backend takes fifty aliases in one question, and four megabytes: an environment may be large. */
const launchesAtOnce = 25;
const launchesMaxBytes = 1024 * 1024;

/** What the backend says of a launch before it is given to an MCP server. */
export interface JudgedLaunch {
  /** What its fingerprint would be: the only way to see whether a secret differs. */
  readonly fingerprint: string;
  /** Why the installation does not allow it, or null where it does. */
  readonly refusal: string | null;
}

export async function judgeLaunches(
  backend: BackendClient,
  workspaceId: string,
  launches: readonly Launch[],
  signal: AbortSignal,
): Promise<readonly JudgedLaunch[]> {
  const judged: JudgedLaunch[] = [];
  for (const batch of batchesOf(launches)) {
    const parameters = batch.map((_, i) => `$l${i}: LaunchInput!`).join(', ');
    const fields = batch.map((_, i) => `f${i}: launchFingerprint(launch: $l${i}) r${i}: launchRefusal(launch: $l${i})`);
    const { workspace } = await backend.query(
      `query ($id: ID, ${parameters}) { workspace(id: $id) { ${fields.join(' ')} } }`,
      { id: workspaceId, ...Object.fromEntries(batch.map((launch, i) => [`l${i}`, launch])) },
      z.object({ workspace: z.record(z.string(), z.string().nullable()) }).parse,
      { signal },
    );
    judged.push(
      ...batch.map((_, i) => ({ fingerprint: workspace[`f${i}`] ?? '', refusal: workspace[`r${i}`] ?? null })),
    );
  }
  return judged;
}

function batchesOf(launches: readonly Launch[]): readonly (readonly Launch[])[] {
  const batches: Launch[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const launch of launches) {
    const more = Buffer.byteLength(JSON.stringify(launch));
    if (bytes + more > launchesMaxBytes || batches.at(-1)?.length === launchesAtOnce) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(launch);
    bytes += more;
  }
  return batches;
}
