import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { BackendClient } from '../backend-client.ts';
import { carryOut } from './carry-out.ts';
import { mergeWanted } from './merge-wanted.ts';
import { type Change, type Plan, planChanges } from './plan-changes.ts';
import { readApplyFile } from './read-file.ts';
import { readFingerprints, readLive } from './read-live.ts';
import type { Wanted } from './wanted.ts';

export type { Change };

export interface ApplyOptions {
  readonly backend: BackendClient;
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Where `fromEnv` looks. */
  readonly env: EnvRecord;
  /** Says what would change, and changes nothing. */
  readonly dryRun?: boolean;
  /** Also removes what no file names, in the workspaces that the files name. */
  readonly prune?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Makes workspaces be as the files say. What is wrong in the files is found before anything is changed. */
export async function apply(options: ApplyOptions): Promise<readonly Change[]> {
  const { backend, files, env, dryRun = false, prune = false, onProgress = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  const wanted = mergeWanted(files.map((file) => readApplyFile(file, env)));
  const plans: Plan[] = [];
  for (const one of wanted) plans.push(await compare(backend, one, prune, signal));
  const changes = plans.flatMap(changesOf);
  const total = changes.filter(({ action }) => action !== 'none').length;
  let done = 0;
  const onDone = () => onProgress(++done, total);
  if (!dryRun) for (const plan of plans) await carryOut({ backend, plan, signal, onDone });
  return changes;
}

async function compare(backend: BackendClient, wanted: Wanted, prune: boolean, signal: AbortSignal): Promise<Plan> {
  const live = await readLive(backend, wanted.workspace, signal);
  const launches = wanted.mcpServers.map(({ launch }) => launch);
  const fingerprints = await readFingerprints(backend, live.workspaceId, launches, signal);
  return planChanges({ wanted, live, fingerprints, prune });
}

function changesOf({ mcpServers, skills, roles }: Plan): readonly Change[] {
  return [...mcpServers, ...skills, ...roles].map(({ change }) => change);
}
