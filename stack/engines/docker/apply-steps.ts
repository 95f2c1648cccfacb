import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import { describeHolder, findPortHolder } from '../../machine/port-holder.ts';
import { readyAt } from '../../parts/part.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { lostPort } from '../../ports/claim-ports.ts';
import type { EngineStart } from '../engine.ts';
import { registerIdentities } from '../register-identities.ts';
import { awaitFounder } from './await-founder.ts';
import type { ContainerPlan } from './container-plan.ts';
import { askReady, becomesReady, patienceMs, waitUntilContainerReady } from './container-state.ts';
import type { DockerState } from './docker-state.ts';
import { giveFiles, takeBackFiles } from './given-files.ts';
import { containerNameOf } from './names.ts';
import { notReady } from './not-ready.ts';
import { provisionGraphInside } from './provision-graph.ts';
import type { ContainerStep, Decision } from './reconcile.ts';
import { removeContainer } from './remove-container.ts';
import { runsAs } from './user.ts';

interface Application extends Pick<EngineStart, 'signal' | 'onState' | 'onNotice'> {
  readonly steps: readonly ContainerStep[];
  readonly state: DockerState;
  /** The last lines of removed containers go there. */
  readonly logs: PlatformLogs;
}

/** Carries out the steps of a decision. Throws the reason of the first part that failed. */
export async function applySteps(
  { steps, isFresh }: Decision,
  state: DockerState,
  { signal, onState, onNotice }: EngineStart,
): Promise<void> {
  const { installation, definition } = state.plan;
  const logs = openPlatformLogs(installation, definition);
  const application = { steps, state, logs, signal, onState, onNotice };
  try {
    for (const [name, part] of state.extra) await removeExtra(name, part, application);
    await (isFresh ? startAll(application) : changeEach(application));
  } finally {
    logs.close();
  }
}

/** Where no container exists, each starts as soon as the parts that it needs are ready. */
async function startAll(application: Application): Promise<void> {
  const containers = application.steps.map(({ container }) => container);
  await Promise.all(containers.map((container) => makeContainer(container, application)));
  await startInOrder(containers, (container) => startContainer(container, application));
}

/** Changes one kind of parts after the other. */
async function changeEach(application: Application): Promise<void> {
  const kinds = Map.groupBy(application.steps, ({ container }) => container.part.service);
  for (const kind of kinds.values()) await applyKind(kind, application);
}

/**
 * Starts the containers that are not ready at once, because a node of a cluster waits for the others. Replaces the ready ones one by one,
 * so that most of a cluster stays up.
 */
async function applyKind(steps: readonly ContainerStep[], application: Application): Promise<void> {
  const areWell = await Promise.all(steps.map((step) => isWell(step, application)));
  await allOf(steps.filter((_, index) => !areWell[index]).map((step) => bring(step, application)));
  for (const step of steps.filter((_, index) => areWell[index])) await renew(step, application);
}

/** Waits for all of them, so that no part is still starting when this throws. */
async function allOf(started: Iterable<Promise<void>>): Promise<void> {
  const failed = (await Promise.allSettled(started)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function isWell({ kind, container }: ContainerStep, { steps, state, signal }: Application): Promise<boolean> {
  const { part, options, check } = container;
  const { docker } = state.daemon;
  if (kind === 'make') return (await askReady(docker, options.name, check)).ready;
  // A part that it needs may have just been replaced.
  const timeoutMs = steps.some((step) => step.kind === 'make') ? part.limits.startMaxMs : patienceMs;
  return becomesReady(docker, options.name, check, { timeoutMs, signal });
}

async function removeExtra(name: string, part: string, { state, logs, onState }: Application): Promise<void> {
  const { daemon, plan } = state;
  await removeContainer(daemon.docker, { name, part }, logs);
  takeBackFiles(plan.installation, part);
  onState(part, 'stopped');
}

/** Replaces a container that is not ready. */
async function bring({ kind, container }: ContainerStep, application: Application): Promise<void> {
  if (kind === 'keep') application.onNotice(`${container.part.name} is not ready: it is replaced.`);
  await remakeContainer(container, application);
}

/** Replaces a ready container that differs from the plan. */
async function renew({ kind, container }: ContainerStep, application: Application): Promise<void> {
  if (kind === 'make') return remakeContainer(container, application);
  // Docker reads the files again when it restarts the container, and state/ may have been lost.
  giveFilesOf(container, application);
  // Identities and passwords of the graph are no variables of a container, so a change of them shows nowhere else.
  return settle(container, application);
}

async function remakeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { state, logs, onState } = application;
  const { docker } = state.daemon;
  const { name } = container.options;
  if (state.present.has(name)) {
    await removeContainer(docker, { name, part: container.part.name }, logs);
    onState(container.part.name, 'stopped');
  }
  await makeContainer(container, application);
  await startContainer(container, application);
}

function giveFilesOf(container: ContainerPlan, { state: { plan, daemon } }: Application): void {
  giveFiles(plan.installation, container, runsAs(plan.installation, daemon.isRootless).owner);
}

async function makeContainer(container: ContainerPlan, application: Application): Promise<void> {
  giveFilesOf(container, application);
  const { daemon } = application.state;
  await daemon.docker.createContainer(container.options);
  const [, ...others] = container.networks;
  const { name: Container } = container.options;
  const EndpointConfig = { Aliases: [container.part.name] };
  // Docker before 25 takes only one network when it creates a container.
  for (const name of others) await daemon.docker.getNetwork(name).connect({ Container, EndpointConfig });
}

async function startContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { state, signal, onState } = application;
  const { part, options, check } = container;
  const { docker } = state.daemon;
  const { definition, parts } = state.plan;
  const containerOf = (name: string) => containerNameOf(name, definition);
  const explain = async (error: unknown) => {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw await notReady(container, error, docker);
  };
  signal.throwIfAborted();
  onState(part.name, 'starting');
  await awaitFounder(part, { docker, parts, containerOf, signal }).catch(explain);
  await docker
    .getContainer(options.name)
    .start()
    .catch((error: unknown) => {
      throw notStarted(container, error);
    });
  const { startMaxMs: timeoutMs } = part.limits;
  await waitUntilContainerReady(docker, options.name, check, { timeoutMs, signal }).catch(explain);
  onState(part.name, 'healthy');
  await settle(container, application);
}

/** Tells a ready part what it must know before a part that needs it starts. Idempotent. */
async function settle({ part }: ContainerPlan, application: Application): Promise<void> {
  // One process of a service hands the setting to the others.
  const { state, signal } = application;
  if (part.name === 'backend') await register(part.url, application);
  if (part.name === 'dgraph-alpha') await provisionGraphInside({ ...state, signal });
}

/** The port is published a moment after the part listens in its container. */
const publishedWithinMs = 5000;

async function register(url: string, { state: { plan }, signal }: Application): Promise<void> {
  await waitUntilReady(readyAt(url), { timeoutMs: publishedWithinMs, signal });
  await registerIdentities(url, plan, signal);
}

/** Docker reports a taken port only in the text of its error. */
const takenPort = /(port is already allocated|address already in use)/i;

function notStarted({ part }: ContainerPlan, cause: unknown): SvcError {
  const words = wordsOf(cause);
  if (takenPort.test(words)) {
    const ports = part.published.map(({ port }) => port);
    const port = ports.find((one) => findPortHolder(one) !== null) ?? ports[0] ?? 0;
    return lostPort(`${part.name} failed to start: port ${port} is in use by ${describeHolder(port)}.`, {
      hint: 'Stop that program, or change the port in svc.yaml (auto takes the next free one).',
    });
  }
  return new SvcError('unavailable', `${part.name} failed to start: ${words}.`, {
    hint: isDiskFull(cause) ? makeRoom : 'Check Docker: docker info',
    cause,
  });
}
