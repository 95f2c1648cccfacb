import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { readPages } from '../client/read-pages.ts';
import { reason } from '../client/reason.ts';
import type { Wanted } from './wanted.ts';

/** Something that is as the files say, and yet does not work. */
export interface Problem {
  readonly kind: 'mcpServer' | 'skill';
  readonly workspace: string;
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

export interface Looking {
  readonly backend: BackendClient;
  readonly workspaceId: string;
  readonly wanted: Wanted;
  /** Until when MCP servers may still become Connected, by the clock of `performance`. */
  readonly deadline: number;
  readonly onWait: (mcpServers: readonly string[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Which of the MCP servers that the files name are not Connected, once each has come to an outcome or the time is up, and which of the
 * skills have tools that nobody offers. Where all is well, that is one look.
 */
export async function findProblems(looking: Looking): Promise<readonly Problem[]> {
  return [...(await findLateMcpServers(looking)), ...(await findBrokenSkills(looking))];
}

const mcpServer = z.object({
  name: z.string(),
  status: z.string(),
  reason: reason.nullable(),
  runtimes: z.array(z.object({ available: z.boolean() })),
});
type McpServer = z.infer<typeof mcpServer>;

const lookIntervalMs = 200;

async function findLateMcpServers(looking: Looking): Promise<readonly Problem[]> {
  const { backend, workspaceId, wanted, deadline, onWait, signal } = looking;
  const names = new Set(wanted.mcpServers.filter(({ enabled }) => enabled).map(({ name }) => name));
  if (names.size === 0) return [];
  const fields = 'name status reason { code message repair } runtimes { available }';
  let told = '';
  for (;;) {
    const all = await readPages({ backend, workspaceId, list: 'mcpServers', fields, item: mcpServer, signal });
    const late = all.filter(({ name, status }) => names.has(name) && status !== 'Connected');
    const waiting = late.filter(mayStillConnect).map(({ name }) => name);
    if (waiting.length === 0 || performance.now() >= deadline) return late.map((one) => lateProblem(one, wanted));
    if (told !== waiting.join()) onWait(waiting);
    told = waiting.join();
    await pause(lookIntervalMs, undefined, { signal });
  }
}

/** An error is an outcome, although it is tried again; where no runtime is there, nobody knows when one comes. */
function mayStillConnect({ status, runtimes }: McpServer): boolean {
  return status !== 'Error' && (runtimes.length === 0 || runtimes.some(({ available }) => available));
}

function lateProblem({ name, status, reason: why }: McpServer, { workspace }: Wanted): Problem {
  return {
    kind: 'mcpServer',
    workspace,
    name,
    message: `The MCP server "${name}" is ${status}. ${why?.message ?? ''}`.trimEnd(),
    hint: why?.repair ?? `See why: svc server show ${name}`,
  };
}

const skillOfPage = z.object({ name: z.string(), reason: z.object({ code: z.string() }).nullable() });
const skillDetail = z.object({
  workspace: z.object({
    skill: z
      .object({
        reason: reason.nullable(),
        tools: z.array(
          z.object({
            originalName: z.string(),
            listed: z.boolean(),
            mcpServer: z.object({ id: z.string(), name: z.string() }),
          }),
        ),
      })
      .nullable(),
  }),
});

/** More would not be read. */
const brokenSkillsMax = 50;

async function findBrokenSkills(looking: Looking): Promise<readonly Problem[]> {
  const { backend, workspaceId, wanted, signal } = looking;
  const names = new Set(wanted.skills.map(({ name }) => name));
  if (names.size === 0) return [];
  const pages = { backend, workspaceId, list: 'skills', fields: 'name reason { code }', item: skillOfPage, signal };
  const broken = (await readPages(pages)).filter(({ name, reason }) => names.has(name) && reason !== null);
  const problems: Problem[] = [];
  for (const { name } of broken) {
    if (problems.length >= brokenSkillsMax) break;
    problems.push(...(await problemsOfSkill(looking, name)));
  }
  return problems;
}

async function problemsOfSkill(looking: Looking, name: string): Promise<readonly Problem[]> {
  const { backend, workspaceId, wanted, signal } = looking;
  const query = `query ($id: ID, $name: String) { workspace(id: $id) { skill(name: $name) {
    reason { code message repair } tools(first: 1000) { originalName listed mcpServer { id name } }
  } } }`;
  const answer = await backend.query(query, { id: workspaceId, name }, skillDetail.parse, { signal });
  const { skill } = answer.workspace;
  if (skill === null || skill.reason === null) return [];
  const problem = { kind: 'skill', workspace: wanted.workspace, name } as const;
  if (skill.reason.code === 'missing_tool') {
    const missing = skill.tools.filter(({ listed }) => !listed);
    const messages = missing.map(async ({ originalName, mcpServer: { id, name: server } }) => ({
      ...problem,
      message: `The skill "${name}" has the tool "${server}/${originalName}", which is not offered. ${suggestion(originalName, await offered(looking, id))}`,
      hint: 'Correct it in the file and apply that again.',
    }));
    return Promise.all(messages);
  }
  // What is wrong with an MCP server of the files is told of that one, and one that they disable is meant to be so.
  const ours = new Set(wanted.mcpServers.map((server) => server.name));
  if (skill.tools.some(({ mcpServer: { name: server } }) => ours.has(server))) return [];
  const { message, repair } = skill.reason;
  return [{ ...problem, message: `The skill "${name}" is not available. ${message}`, hint: repair }];
}

const toolPage = z.object({
  workspace: z.object({
    mcpServer: z.object({
      tools: z.object({ nodes: z.array(z.object({ originalName: z.string(), listed: z.boolean() })) }),
    }),
  }),
});

/** The first page: enough to find what was meant. */
async function offered({ backend, workspaceId, signal }: Looking, mcpServer: string): Promise<readonly string[]> {
  const query = `query ($id: ID, $mcpServer: ID) { workspace(id: $id) { mcpServer(id: $mcpServer) {
    tools { nodes { originalName listed } }
  } } }`;
  const { workspace } = await backend.query(query, { id: workspaceId, mcpServer }, toolPage.parse, { signal });
  return workspace.mcpServer.tools.nodes.filter(({ listed }) => listed).map(({ originalName }) => originalName);
}
