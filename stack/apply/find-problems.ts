import { setTimeout as pause } from 'node:timers/promises';
import type { BackendClient } from '../client/backend-client.ts';
import { everyPage } from '../client/every-page.ts';
import {
  type McpServersAppliedQuery,
  mcpServersAppliedQuery,
  skillsAppliedQuery,
} from '../client/generated/operations.ts';
import type { Plan } from './plan-changes.ts';

export interface Problem {
  readonly kind: 'mcpServer' | 'skill';
  readonly workspace: string;
  readonly name: string;
  readonly message: string;
  readonly hint: string;
}

export interface ProblemSearch {
  readonly backend: BackendClient;
  readonly plans: readonly Plan[];
  /** How long MCP servers may take to become Connected; default 30 s. */
  readonly patienceMs?: number;
  /** Called with the names of those that are still waited for. */
  readonly onWait?: (mcpServers: readonly string[]) => void;
  readonly signal?: AbortSignal | undefined;
}

/** A command that is downloaded first takes longer, and is reported as not Connected yet. */
const patienceUsualMs = 30_000;

/** The MCP servers of the files that are not Connected in time, and skills with tools that are not offered. */
export async function findProblems(search: ProblemSearch): Promise<readonly Problem[]> {
  const deadline = performance.now() + (search.patienceMs ?? patienceUsualMs);
  const problems: Problem[] = [];
  for (const plan of search.plans) {
    problems.push(...(await findLateMcpServers(search, plan, deadline)), ...(await findBrokenSkills(search, plan)));
  }
  return problems;
}

type McpServer = NonNullable<McpServersAppliedQuery['workspace']>['mcpServers']['nodes'][number];

const lookIntervalMs = 200;

async function findLateMcpServers(
  { backend, onWait, signal }: ProblemSearch,
  { wanted, live: { id: workspace } }: Plan,
  deadline: number,
): Promise<readonly Problem[]> {
  const names = new Set(wanted.mcpServers.filter(({ enabled }) => enabled !== false).map(({ name }) => name));
  if (names.size === 0) return [];
  let told = '';
  for (;;) {
    const all = await everyPage(async (page) => {
      const answer = await backend.send(mcpServersAppliedQuery, { workspace, ...page }, { signal });
      return answer.workspace?.mcpServers;
    });
    const gone = [...names.difference(new Set(all.map(({ name }) => name)))];
    const late = all.filter(({ name, status }) => names.has(name) && status !== 'Connected');
    const waiting = late.filter(mayStillConnect).map(({ name }) => name);
    if (waiting.length === 0 || performance.now() >= deadline) {
      return [
        ...late.map((one) => lateProblem(one, wanted.workspace)),
        ...gone.map((name) => goneProblem(name, wanted.workspace)),
      ];
    }
    if (told !== waiting.join()) onWait?.(waiting);
    told = waiting.join();
    await pause(lookIntervalMs, undefined, { signal });
  }
}

/** An error is an outcome, although it is retried; without a runtime the wait could be endless. */
function mayStillConnect({ enabled, status, runtimes }: McpServer): boolean {
  return enabled && status !== 'Error' && (runtimes.length === 0 || runtimes.some(({ available }) => available));
}

function lateProblem({ name, status, reason: why }: McpServer, workspace: string): Problem {
  return {
    kind: 'mcpServer',
    workspace,
    name,
    message: `The MCP server "${name}" is ${status}. ${why?.message ?? ''}`.trimEnd(),
    hint: why?.repair ?? `Show the reason: svc server show ${name}`,
  };
}

function goneProblem(name: string, workspace: string): Problem {
  return {
    ...{ kind: 'mcpServer', workspace, name },
    message: `Somebody removed the MCP server "${name}" meanwhile.`,
    hint: 'Show who did: svc audit',
  };
}

/** More would not be read. */
const brokenSkillsMax = 50;

async function findBrokenSkills(
  { backend, signal }: ProblemSearch,
  { wanted, live: { id: workspace } }: Plan,
): Promise<readonly Problem[]> {
  const skills = new Map(wanted.skills.map((skill) => [skill.name, skill]));
  if (skills.size === 0) return [];
  const all = await everyPage(async (page) => {
    const answer = await backend.send(skillsAppliedQuery, { workspace, ...page }, { signal });
    return answer.workspace?.skills;
  });
  const ours = new Set(wanted.mcpServers.map(({ name }) => name));
  const problems = all.flatMap(({ name, reason }): readonly Problem[] => {
    const skill = skills.get(name);
    if (skill === undefined || reason === null) return [];
    // An MCP server of the files is reported by itself, and a disabled one is not a problem.
    if (reason.code !== 'missing_tool' && skill.tools?.some(({ mcpServer }) => ours.has(mcpServer))) return [];
    const message = `The skill "${name}" has a problem: ${reason.message}`;
    return [{ kind: 'skill', workspace: wanted.workspace, name, message, hint: reason.repair }];
  });
  return problems.slice(0, brokenSkillsMax);
}
