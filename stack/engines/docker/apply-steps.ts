import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { describeHolder, findPortHolder } from '../../machine/port-holder.ts';
import { readyAt } from '../../parts/part.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { lostPort } from '../../ports/claim-ports.ts';
import type { EngineStart } from '../engine.ts';
import { registerIdentities } from '../register-identities.ts';
import type { ContainerPlan } from './container-plan.ts';
import {
  askReady,
  awaitFounder,
  becomesReady,
  notReady,
  patienceMs,
  waitUntilContainerReady,
} from './container-readiness.ts';
import type { DockerState } from './docker-state.ts';
import { giveFiles, runsAs } from './given-files.ts';
import { provisionGraphInside } from './provision-graph.ts';
import type { ContainerStep, Decision } from './reconcile.ts';
import { type Removal, removeContainer } from './take-down.ts';

type Start = Pick<EngineStart, 'signal' | 'onState' | 'onNotice'>;

interface Application extends Removal, Start {
  readonly steps: readonly ContainerStep[];
  readonly state: DockerState;
}

/** Carries out the steps of a decision. Throws the reason of the first part that failed. */
export async function applySteps(
  { steps, isFresh }: Decision,
  state: DockerState,
  { signal, onState, onNotice }: Start,
): Promise<void> {
  const { plan, daemon } = state;
  const { installation } = plan;
  const logs = openPlatformLogs(installation, plan.definition);
  const application = { steps, state, installation, docker: daemon.docker, logs, signal, onState, onNotice };
  try {
    for (const [name, part] of state.extra) await removeContainer({ name, part }, application);
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

/** Replaces the containers that are not ready first, and the ready ones one by one, so that most of a cluster stays up. */
async function applyKind(steps: readonly ContainerStep[], application: Application): Promise<void> {
  const areReady = await Promise.all(steps.map((step) => isReady(step, application)));
  const failed = steps.filter((_, index) => !areReady[index]);
  for (const { kind, container } of failed) {
    if (kind === 'keep') application.onNotice(`${container.part.name} is not ready: it is replaced.`);
  }
  const containers = failed.map(({ container }) => container);
  // Together, because a node of a cluster waits for the others.
  await startInOrder(containers, (container) => remakeContainer(container, application));
  for (const { kind, container } of steps.filter((_, index) => areReady[index])) {
    if (kind === 'make') await remakeContainer(container, application);
    else await settleAgain(container, application);
  }
}

async function isReady({ kind, container }: ContainerStep, { steps, docker, signal }: Application): Promise<boolean> {
  const { part, options, check } = container;
  if (kind === 'make') return (await askReady(docker, options.name, check)).ready;
  // A part that it needs may have just been replaced.
  const timeoutMs = steps.some((step) => step.kind === 'make') ? part.limits.startMaxMs : patienceMs;
  return becomesReady(docker, options.name, check, { timeoutMs, signal });
}

/** For a container that stays. */
async function settleAgain(container: ContainerPlan, application: Application): Promise<void> {
  // Docker reads the files again when it restarts the container, and state/ may have been lost.
  giveFilesOf(container, application);
  // Identities and passwords of the graph are no variables of a container, so a change of them shows nowhere else.
  await settle(container, application);
}

async function remakeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { name } = container.options;
  if (application.state.present.has(name)) await removeContainer({ name, part: container.part.name }, application);
  await makeContainer(container, application);
  await startContainer(container, application);
}

function giveFilesOf(container: ContainerPlan, { state: { plan, daemon } }: Application): void {
  giveFiles(plan.installation, container, runsAs(plan.installation, daemon.isRootless).owner);
}

async function makeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { docker } = application;
  giveFilesOf(container, application);
  await docker.createContainer(container.options);
  const [, ...others] = container.networks;
  const { name: Container } = container.options;
  const EndpointConfig = { Aliases: [container.part.name] };
  // Docker before 25 takes only one network when it creates a container.
  for (const name of others) await docker.getNetwork(name).connect({ Container, EndpointConfig });
}

async function startContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { state, docker, signal, onState } = application;
  const { part, options, check } = container;
  const explain = async (error: unknown) => {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw await notReady(container, error, docker);
  };
  signal.throwIfAborted();
  onState(part.name, 'starting');
  await awaitFounder(part, { ...state, signal }).catch(explain);
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
  // A command that runs the graph without a backend provisions it itself.
  const hasBackend = state.plan.parts.some(({ service }) => service === 'backend');
  if (part.name === 'dgraph-alpha' && hasBackend) await provisionGraphInside({ ...state, signal });
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
