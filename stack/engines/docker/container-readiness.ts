import { join } from 'node:path';
import type Docker from 'dockerode';
import { wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { founderOf, leaderMetric, metricsPath, withoutLeader } from '../../graph/cluster-leader.ts';
import { pollReadiness, type Readiness, type ReadinessWait } from '../../lifecycle/readiness.ts';
import { describeLine, parseLine } from '../../logs/read-logs.ts';
import type { Part } from '../../parts/part.ts';
import { metaFileOf } from '../../place/node-data.ts';
import { readContainerLog } from './container-log.ts';
import type { ContainerPlan } from './container-plan.ts';
import { inspectContainer, lastEndOf, runInside } from './container-state.ts';
import { tolerate } from './daemon.ts';
import { containerNameOf } from './names.ts';
import type { TaskSite } from './task.ts';

/** Runs the health check inside the container, because most parts are unreachable from this machine. */
export async function askReady(docker: Docker, name: string, check: readonly string[]): Promise<Readiness> {
  try {
    const { said, exitCode } = await runInside(docker, name, check);
    return exitCode === 0 ? { ready: true } : { ready: false, missing: missingIn(said) };
  } catch (error) {
    return { ready: false, missing: wordsOf(error) };
  }
}

/** Our services name what is missing; other programs only say that they are not ready. */
function missingIn(said: string): string {
  const missing = /"missing":\["(.*?)"\]/.exec(said)?.[1];
  return missing?.replaceAll('","', ', ') ?? (said.split('\n').at(-1)?.slice(0, 200) || 'it is not ready');
}

/** A platform that another command just started, or a part that stumbled, gets this long before its container is replaced. */
export const patienceMs = 10_000;

/** Each question starts a process in the container. */
const pauses = { firstMs: 20, maxMs: 250 };

/** Whether a running container is ready, or will be in time. */
export async function becomesReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  wait: ReadinessWait,
): Promise<boolean> {
  try {
    await pollReadiness(() => askReady(docker, name, check), wait, pauses);
    return true;
  } catch (error) {
    if (wait.signal.aborted) throw error;
    return false;
  }
}

/** Resolves once the new container is ready. Throws why it ended, or that it was not ready in time, in words that follow its name. */
export async function waitUntilContainerReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  wait: ReadinessWait,
): Promise<void> {
  const readOnce = async () => {
    const found = await inspectContainer(docker, name);
    if (found === null) throw new SvcError('unavailable', 'it was removed');
    const { State, RestartCount } = found;
    if (!State.Running || State.Restarting || RestartCount > 0)
      throw new SvcError('unavailable', `it ${await lastEndOf(docker, found)}`);
    return askReady(docker, name, check);
  };
  await pollReadiness(readOnce, wait, pauses);
}

const linesMax = 8;

/** Why a started container is not ready, with the last lines of its log. */
export async function notReady({ part, options }: ContainerPlan, cause: unknown, docker: Docker): Promise<SvcError> {
  const lines = await readContainerLog(docker.getContainer(options.name), { tail: linesMax }).catch(() => []);
  const last = lines.map(({ text }) => `\n  ${describeLine(parseLine(part.name, text))}`).join('');
  const log = last === '' ? '' : `\nLast lines of its log:${last}`;
  const known = cause instanceof SvcError ? cause : null;
  const hint = known?.hint ?? `Read its log: svc logs ${part.name}`;
  const why = inWords(cause).replace(/\.$/, '');
  return new SvcError(known?.code ?? 'internal', `${part.name} failed to get ready: ${why}.${log}`, { hint, cause });
}

/** Before the first start of a node's container: waits until the founder of the cluster that the node joins has a leader. */
export async function awaitFounder(part: Part, { plan, daemon, signal }: TaskSite): Promise<void> {
  const { docker } = daemon;
  const containerOf = ({ name }: Part) => containerNameOf(name, plan.definition);
  const founder = founderOf(part, plan.parts);
  if (founder === null || (await hasStarted(docker.getContainer(containerOf(part)), part))) return;
  const metricsUrl = new URL(metricsPath, founder.ready.url).href;
  // The image has curl, but not necessarily grep.
  const script = `case "$(curl -sS -m 4 "$1")" in *"$2"*) ;; *) exit 1 ;; esac`;
  const check = ['sh', '-c', script, 'sh', metricsUrl, leaderMetric];
  const timeoutMs = part.limits.startMaxMs;
  if (await becomesReady(docker, containerOf(founder), check, { timeoutMs, signal })) return;
  throw withoutLeader(timeoutMs);
}

/** Whether the node has written to its volume. Docker looks into the volume of a container that does not run, too. */
async function hasStarted(container: Docker.Container, { name, variables }: Part): Promise<boolean> {
  const path = join(variables.DATA ?? '', metaFileOf(name));
  const info = await container.infoArchive({ path }).catch(tolerate(404));
  // An answer that is not read keeps the process alive.
  info?.resume();
  return info !== null;
}
