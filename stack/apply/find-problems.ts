import { setTimeout as pause } from 'node:timers/promises';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  type McpServersAppliedQuery,
  mcpServersAppliedQuery,
  offeredToolsQuery,
  problemOfSkillQuery,
  skillsAppliedQuery,
} from '../client/generated/operations.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

/** An applied object that does not work. */
export interface Problem {
  readonly kind: 'mcpServer' | 'skill';
  readonly workspace: string;
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

export interface ProblemSearch {
  readonly backend: BackendClient;
  readonly workspaceId: string;
  readonly wanted: WantedWorkspace;
  /** Until when MCP servers may still become Connected, by the clock of `performance`. */
  readonly deadline: number;
  readonly onWait: (mcpServers: readonly string[]) => void;
  readonly signal: AbortSignal;
}

/**
 * The MCP servers of the files that are not Connected, once each has an outcome or the time is up, and skills with
 * tools that are not offered. When all works, this is one query.
 */
export async function findProblems(looking: ProblemSearch): Promise<readonly Problem[]> {
  return [...(await findLateMcpServers(looking)), ...(await findBrokenSkills(looking))];
}

type McpServer = NonNullable<McpServersAppliedQuery['workspace']>['mcpServers']['nodes'][number];

const lookIntervalMs = 200;

async function findLateMcpServers(looking: ProblemSearch): Promise<readonly Problem[]> {
  const { backend, workspaceId: workspace, wanted, deadline, onWait, signal } = looking;
  const names = new Set(wanted.mcpServers.filter(({ enabled }) => enabled).map(({ name }) => name));
  if (names.size === 0) return [];
  let told = '';
  for (;;) {
    const all = await everyPage(async (page) => {
      const answer = await backend.send(mcpServersAppliedQuery, { workspace, ...page }, { signal });
      return answer.workspace?.mcpServers;
    });
    const late = all.filter(({ name, status }) => names.has(name) && status !== 'Connected');
    const waiting = late.filter(mayStillConnect).map(({ name }) => name);
    if (waiting.length === 0 || performance.now() >= deadline) return late.map((one) => lateProblem(one, wanted));
    if (told !== waiting.join()) onWait(waiting);
    told = waiting.join();
    await pause(lookIntervalMs, undefined, { signal });
  }
}

/** An error is an outcome, although it is retried; without a runtime the wait could be endless. */
function mayStillConnect({ status, runtimes }: McpServer): boolean {
  return status !== 'Error' && (runtimes.length === 0 || runtimes.some(({ available }) => available));
}

function lateProblem({ name, status, reason: why }: McpServer, { workspace }: WantedWorkspace): Problem {
  return {
    kind: 'mcpServer',
    workspace,
    name,
    message: `The MCP server "${name}" is ${status}. ${why?.message ?? ''}`.trimEnd(),
    hint: why?.repair ?? `Show the reason: svc server show ${name}`,
  };
}

/** More would not be read. */
const brokenSkillsMax = 50;

async function findBrokenSkills(looking: ProblemSearch): Promise<readonly Problem[]> {
  const { backend, workspaceId: workspace, wanted, signal } = looking;
  const names = new Set(wanted.skills.map(({ name }) => name));
  if (names.size === 0) return [];
  const all = await everyPage(async (page) => {
    const answer = await backend.send(skillsAppliedQuery, { workspace, ...page }, { signal });
    return answer.workspace?.skills;
  });
  const broken = all.filter(({ name, reason }) => names.has(name) && reason !== null);
  const problems: Problem[] = [];
  for (const { name } of broken) {
    if (problems.length >= brokenSkillsMax) break;
    problems.push(...(await problemsOfSkill(looking, name)));
  }
  return problems;
}

async function problemsOfSkill(looking: ProblemSearch, name: string): Promise<readonly Problem[]> {
  const { backend, workspaceId, wanted, signal } = looking;
  const answer = await backend.send(problemOfSkillQuery, { workspace: workspaceId, name }, { signal });
  const skill = answer.workspace?.skill ?? null;
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
  // An MCP server of the files is reported by itself, and a disabled one is not a problem.
  const ours = new Set(wanted.mcpServers.map((server) => server.name));
  if (skill.tools.some(({ mcpServer: { name: server } }) => ours.has(server))) return [];
  const { message, repair } = skill.reason;
  return [{ ...problem, message: `The skill "${name}" is not available. ${message}`, hint: repair }];
}

/** The first page: enough to find what was meant. */
async function offered({ backend, workspaceId, signal }: ProblemSearch, mcpServer: string): Promise<readonly string[]> {
  const { workspace } = await backend.send(offeredToolsQuery, { workspace: workspaceId, id: mcpServer }, { signal });
  const tools = workspace?.mcpServer?.tools.nodes ?? [];
  return tools.filter(({ listed }) => listed).map(({ originalName }) => originalName);
}
