import { readPlan } from '../../engines/plan-of.ts';
import { openProcessTrial, type ProcessTrial } from '../../engines/process/test/trial.ts';
import { findProgram } from '../../machine/find-program.ts';
import { ensureFolders } from '../../secrets/ensure-folders.ts';
import { readRecord } from '../../state/platform-record.ts';
import { freeDgraphPorts } from '../../test/free-ports.ts';
import { until } from '../../test/until.ts';

const dgraph = findProgram('dgraph', process.env.PATH);
export const hasDgraph = dgraph !== null;

/** Opens a platform with this number of Dgraph nodes. Its services are stand-ins that only listen. */
export async function openDgraphTrial(zeros = 1, alphas = 1) {
  const ports = await freeDgraphPorts(3);
  const trial = await openProcessTrial([
    ['graph: sqlite', 'graph: dgraph'],
    ['  port: auto # 8080', `  port: ${ports['dgraph-alpha']}`],
    ['  zeroPort: auto', `  zeroPort: ${ports['dgraph-zero']}`],
  ]);
  if (zeros > 1) trial.edit('dgraph-zero: 1', `dgraph-zero: ${zeros}`);
  if (alphas > 1) trial.edit('dgraph-alpha: 1', `dgraph-alpha: ${alphas}`);
  const plan = readPlan(trial.installation);
  ensureFolders(trial.installation, plan.definition);
  const find = (command: string) => (command === 'dgraph' ? dgraph : trial.programs.find(command));
  return { ...trial, programs: { ...trial.programs, find }, plan };
}

/** Waits for healthy parts: elections take some seconds, on a machine that other programs use too. */
export function healthy({ installation }: Pick<ProcessTrial, 'installation'>, withinMs: number): Promise<void> {
  return until(() => readRecord(installation)?.services.every(({ state }) => state === 'healthy') ?? false, withinMs);
}
