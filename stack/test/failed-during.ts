import { agentOf, type Call } from './chaos/agents.ts';
import { until } from './until.ts';

export interface Calling {
  readonly url: string;
  readonly key: string;
  readonly agents: number;
  readonly everyMs: number;
  /** Limit for the ten calls of each agent before the work, and again after it. */
  readonly withinMs?: number;
}

/** Agents call without a pause before, during and after the work. Returns the calls that were not answered. */
export async function failedDuring(
  work: () => Promise<unknown>,
  { url, key, agents, everyMs, withinMs }: Calling,
): Promise<readonly Call[]> {
  const ending = new AbortController();
  const calls: Call[] = [];
  const onCall = (call: Call) => void calls.push(call);
  const echo = { tool: 'echo', argument: 'message' };
  const working = Array.from({ length: agents }, (_, number) =>
    agentOf(number, { urls: [url], key, echo, everyMs, onCall }).work(ending.signal),
  );
  const more = (than: number) => until(() => calls.length >= than + agents * 10, withinMs);
  await more(0);
  await work();
  await more(calls.length);
  ending.abort();
  await Promise.all(working);
  return calls.filter(({ outcome }) => outcome !== 'answered');
}
