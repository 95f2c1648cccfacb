import { setTimeout as pause } from 'node:timers/promises';
import type { BackendClient } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  type McpServersAppliedQuery,
  mcpServersAppliedQuery,
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
  const { backend, workspaceId, wanted, signal } = looking;
  const skills = new Map(wanted.skills.map((skill) => [skill.name, skill]));
  if (skills.size === 0) return [];
  const all = await everyPage(async (page) => {
    const answer = await backend.send(skillsAppliedQuery, { workspace: workspaceId, ...page }, { signal });
    return answer.workspace?.skills;
  });
  const ours = new Set(wanted.mcpServers.map(({ name }) => name));
  const problems = all.flatMap(({ name, reason }): readonly Problem[] => {
    const skill = skills.get(name);
    if (skill === undefined || reason === null) return [];
    // An MCP server of the files is reported by itself, and a disabled one is not a problem.
    if (reason.code !== 'missing_tool' && skill.tools.some(({ mcpServer }) => ours.has(mcpServer))) return [];
    const message = `The skill "${name}" has a problem: ${reason.message}`;
    return [{ kind: 'skill', workspace: wanted.workspace, name, message, hint: reason.repair }];
  });
  return problems.slice(0, brokenSkillsMax);
}
