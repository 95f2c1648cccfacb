import { readPlan } from '../../../engines/plan-of.ts';
import { installationIn } from '../../../state/installation.ts';
import { readAlone } from '../../../state/left-processes.ts';
import { changeNodes, planOfOtherNodes } from '../change-nodes.ts';
import { readReplacement } from '../replacement.ts';

/** Changes the number of NATS nodes, and kills itself at a step of the replacement: as soon as a node of that name runs, if one is named. */
const [dir = '', step, node] = process.argv.slice(2);
const installation = installationIn(dir);
const isThen = () =>
  readReplacement(installation)?.step === step &&
  (node === undefined || readAlone(installation).some(({ name }) => name === node));
setInterval(() => isThen() && process.kill(process.pid, 'SIGKILL'), 1).unref();

const { signal } = new AbortController();
const asking = { env: process.env, signal };
const to = readPlan(installation);
const from = await planOfOtherNodes(to, asking);
if (from !== null) await changeNodes({ ...asking, from, to, wasRunning: false, onProgress: () => undefined });
