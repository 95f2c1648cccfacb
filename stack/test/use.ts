import { setTimeout as pause } from 'node:timers/promises';
import { graphqlPath } from '../../services/contracts/token.ts';
import { openSession } from '../../services/remote-mcp/test/raw.ts';
import { agentOf, type Call } from './chaos/agents.ts';
import { echoTool } from './platform.ts';
import { until } from './until.ts';

/** What came of one attempt, in few words; `done` is as it should be. */
export interface Attempt {
  readonly of: string;
  readonly begun: number;
  readonly outcome: 'done' | 'refused' | 'wrong';
  readonly told: string;
}

const everyMs = 100;
const deadlineMs = 40_000;
const toldMax = 300;

/** Does it again and again until the end, and tells what came of it each time. */
export async function again(work: () => Promise<Omit<Attempt, 'begun'>>, ending: AbortSignal): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  while (!ending.aborted) {
    const begun = performance.now();
    const attempt = await work().catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      return { of: '', outcome: 'wrong' as const, told: `${error}${cause}` };
    });
    attempts.push({ ...attempt, begun, told: attempt.told.slice(0, toldMax) });
    await pause(everyMs, undefined, { signal: ending }).catch(() => {});
  }
  return attempts;
}

export interface Calling {
  readonly url: string;
  readonly key: string;
  readonly agents: number;
  readonly everyMs: number;
  /** How long each agent may take for its ten calls before the work, and after it. */
  readonly withinMs?: number;
}

/** Agents call without a pause while the work is done, and before and after it; returns what came of their calls. */
export async function callsDuring(
  work: () => Promise<unknown>,
  { url, key, agents, everyMs, withinMs }: Calling,
): Promise<readonly Call[]> {
  const ending = new AbortController();
  const calls: Call[] = [];
  const onCall = (call: Call) => void calls.push(call);
  const working = Array.from({ length: agents }, (_, number) =>
    agentOf(number, { urls: [url], key, echo: echoTool, everyMs, onCall }).work(ending.signal),
  );
  const more = (than: number) => until(() => calls.length >= than + agents * 10, withinMs);
  await more(0);
  await work();
  await more(calls.length);
  ending.abort();
  await Promise.all(working);
  return calls;
}

export interface Writing {
  /** Of the backends. */
  readonly url: string;
  readonly token: () => string;
  readonly workspace: string;
  readonly name: () => string;
}

/** Makes a role over GraphQL, as a person's browser would. What is refused must say by name what became of it. */
export async function makeRole({ url, token, workspace, name }: Writing): Promise<Omit<Attempt, 'begun'>> {
  const of = name();
  const query = 'mutation ($w: ID!, $name: String!) { createRole(workspace: $w, input: { name: $name }) { name } }';
  const response = await fetch(`${url}${graphqlPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { w: workspace, name: of } }),
    signal: AbortSignal.timeout(deadlineMs),
  });
  const told = `${response.status} ${await response.text()}`;
  if (told.includes(`"createRole":{"name":"${of}"}`)) return { of, outcome: 'done', told };
  return { of, outcome: isNamed(told) ? 'refused' : 'wrong', told };
}

/** Opens a session with the next key, which remote-mcp has to have checked. */
export async function openOne(mcpUrl: string, nextKey: () => string): Promise<Omit<Attempt, 'begun'>> {
  try {
    return { of: await openSession(mcpUrl, nextKey()), outcome: 'done', told: '' };
  } catch (error) {
    const told = String(error);
    return { of: '', outcome: isNamed(told) ? 'refused' : 'wrong', told };
  }
}

/** Whoever refuses says why, and where it can't be known what became of it, that. */
function isNamed(told: string): boolean {
  return /50[23] .*(was not carried out|may have been carried out or not)|"code":"(unavailable|timeout)"/.test(told);
}
