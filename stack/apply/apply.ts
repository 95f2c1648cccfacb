import type { BackendClient } from '../client/backend-client.ts';
import { carryOut } from './carry-out.ts';
import { checkAgainstLive } from './check-against-live.ts';
import { findProblems, type Problem } from './find-problems.ts';
import { mergeWanted, saidTwice } from './merge-wanted.ts';
import { mistakeAt, type PlacedMistake, refuseMistaken } from './mistakes.ts';
import { type Change, type Plan, planChanges } from './plan-changes.ts';
import type { ReadFile } from './read-file.ts';
import { type JudgedLaunch, judgeLaunches, type Live, readLive } from './read-live.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

export type { Change, Problem };

export interface ApplyOptions {
  readonly backend: BackendClient;
  /** The results of `readApplyFile`. */
  readonly files: readonly ReadFile[];
  /** Reports the changes without making them. */
  readonly dryRun?: boolean;
  /** Also removes what no file names, in the workspaces of the files. */
  readonly prune?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
  /** Called when all is applied, before the check whether it works. */
  readonly onApplied?: (changes: readonly Change[]) => void;
  /** How long MCP servers may take to become Connected after the apply; default 30 s. */
  readonly patienceMs?: number;
  /** Called with the names of those that are still waited for. */
  readonly onWait?: (mcpServers: readonly string[]) => void;
  readonly signal?: AbortSignal;
}

export interface Applied {
  readonly changes: readonly Change[];
  /** Applied things that do not work; a dry run checks none. */
  readonly problems: readonly Problem[];
}

/** A command that is downloaded first takes longer, and is reported as not Connected yet. */
const patienceUsualMs = 30_000;

/** Makes workspaces equal to the files. Mistakes in the files are found before anything is changed. */
export async function apply(options: ApplyOptions): Promise<Applied> {
  const { backend, files, dryRun = false, prune = false } = options;
  const { onProgress = () => undefined, onApplied = () => undefined, onWait = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  const wanted = mergeWanted(files.map((one) => one.wanted));
  refuseMistaken([...files.flatMap(({ mistakes }) => mistakes), ...wanted.flatMap(saidTwice)]);
  const present: WantedAndLive[] = [];
  for (const one of wanted) present.push({ wanted: one, live: await readLive(backend, one.workspace, signal) });
  refuseMistaken(present.flatMap((one) => checkAgainstLive(one.wanted, one.live, prune)));
  const compared: Comparison[] = [];
  for (const one of present) compared.push(await compare(backend, one, prune, signal));
  refuseMistaken(compared.flatMap(notAllowed));
  const plans = compared.map(({ plan }) => plan);
  const changes = plans.flatMap(changesOf);
  const total = changes.filter(({ action }) => action !== 'none').length;
  let done = 0;
  const onDone = () => onProgress(++done, total);
  if (!dryRun) for (const plan of plans) await carryOut({ backend, plan, signal, onDone });
  onApplied(changes);
  if (dryRun) return { changes, problems: [] };
  const deadline = performance.now() + (options.patienceMs ?? patienceUsualMs);
  const problems: Problem[] = [];
  for (const { wanted: asked, live } of present) {
    const { workspaceId } = live;
    problems.push(...(await findProblems({ backend, workspaceId, wanted: asked, deadline, onWait, signal })));
  }
  return { changes, problems };
}

interface WantedAndLive {
  readonly wanted: WantedWorkspace;
  readonly live: Live;
}

interface Comparison {
  readonly plan: Plan;
  /** Of the launches in the files, in their order. */
  readonly judged: readonly JudgedLaunch[];
}

async function compare(
  backend: BackendClient,
  { wanted, live }: WantedAndLive,
  prune: boolean,
  signal: AbortSignal,
): Promise<Comparison> {
  const launches = wanted.mcpServers.map(({ launch }) => launch);
  const judged = await judgeLaunches(backend, live.workspaceId, launches, signal);
  const fingerprints = judged.map(({ fingerprint }) => fingerprint);
  return { plan: planChanges({ wanted, live, fingerprints, prune }), judged };
}

/** An unchanged launch may stay, even when the installation no longer allows it. */
function notAllowed({ plan, judged }: Comparison): readonly PlacedMistake[] {
  return plan.mcpServers.flatMap(({ change, wanted }, index) => {
    const refusal = judged[index]?.refusal ?? null;
    if (wanted === null || change.action === 'none' || refusal === null) return [];
    return [mistakeAt(wanted.place, `The MCP server "${wanted.name}" is not allowed here. ${refusal}`)];
  });
}

function changesOf({ mcpServers, skills, roles }: Plan): readonly Change[] {
  return [...mcpServers, ...skills, ...roles].map(({ change }) => change);
}
