import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { findPortHolder } from '../../machine/port-holder.ts';
import { readyAt } from '../../parts/part.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { lostPort } from '../../ports/claim-ports.ts';
import { describePortOwner } from '../../state/port-owner.ts';
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
import { giveFiles, givenDirOf } from './given-files.ts';
import { provisionGraphInside } from './provision-graph.ts';
import type { ContainerStep, Reconciliation } from './reconcile.ts';
import { removeContainer } from './take-down.ts';

interface Application extends Reconciliation, Pick<EngineStart, 'signal' | 'onState' | 'onNotice'> {}

/** Carries out the steps of a reconciliation. Throws the reason of the first part that failed. */
export async function applySteps(application: Application): Promise<void> {
  const { extra, isFresh, steps } = application;
  for (const container of extra) await removeContainer(container, application);
  if (isFresh) return startAll(application);
  // One kind of parts after the other.
  const kinds = [...Map.groupBy(steps, ({ container }) => container.part.service).values()];
  for (const kind of (await onlyRestarts(application)) ? kinds.toReversed() : kinds) await applyKind(kind, application);
}

/** Then the parts that others need come last: the calls that run end before the bus does. */
async function onlyRestarts(application: Application): Promise<boolean> {
  const { extra, steps } = application;
  if (extra.length > 0 || !steps.some(({ kind }) => kind === 'restart')) return false;
  if (steps.some(({ kind }) => kind === 'make')) return false;
  return !(await Promise.all(steps.map((step) => isReady(step, application)))).includes(false);
}

/** Where no container exists, each starts as soon as the parts that it needs are ready. */
async function startAll(application: Application): Promise<void> {
  const containers = application.steps.map(({ container }) => container);
  await Promise.all(containers.map((container) => makeContainer(container, application)));
  await startInOrder(containers, (container) => startContainer(container, application));
}

/** Replaces the containers that are not ready first, and the ready ones one by one, so that most of a cluster stays up. */
async function applyKind(steps: readonly ContainerStep[], application: Application): Promise<void> {
  const areReady = await Promise.all(steps.map((step) => isReady(step, application)));
  const failed = steps.filter((_, index) => !areReady[index]);
  for (const { kind, container } of failed) {
    if (kind !== 'make') application.onNotice(`${container.part.name} is not ready: it is replaced.`);
  }
  const containers = failed.map(({ container }) => container);
  // Together, because a node of a cluster waits for the others. A later node starts even if an earlier one fails.
  const outcomes = await Promise.allSettled(containers.map((container) => remakeContainer(container, application)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  for (const { kind, container } of steps.filter((_, index) => areReady[index])) {
    if (kind !== 'keep') {
      await remakeContainer(container, application);
      continue;
    }
    // Docker reads the files again when it restarts the container, and state/ may have been lost.
    giveFilesOf(container, application);
    // Identities and passwords of the graph are no variables of a container, so a change of them shows nowhere else.
    await settle(container, application);
  }
}

async function isReady({ kind, container }: ContainerStep, { steps, daemon, signal }: Application): Promise<boolean> {
  const { docker } = daemon;
  const { part, options, check } = container;
  if (kind === 'make') return (await askReady(docker, options.name, check)).ready;
  // A part that it needs may have just been replaced.
  const timeoutMs = steps.some((step) => step.kind === 'make') ? part.limits.startMaxMs : patienceMs;
  return becomesReady(docker, options.name, check, { timeoutMs, signal });
}

async function remakeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const existing = application.present.get(container.options.name);
  if (existing !== undefined) await removeContainer(existing, application);
  await makeContainer(container, application);
  await startContainer(container, application);
}

function giveFilesOf({ part, given }: ContainerPlan, { plan: { installation }, daemon }: Application): void {
  giveFiles(givenDirOf(installation, part.name), given, daemon.fileOwner);
}

async function makeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { docker } = application.daemon;
  giveFilesOf(container, application);
  await docker.createContainer(container.options);
  const [, ...others] = container.networks;
  const { name: Container } = container.options;
  const EndpointConfig = { Aliases: [container.part.name] };
  // Docker before 25 takes only one network when it creates a container.
  for (const name of others) await docker.getNetwork(name).connect({ Container, EndpointConfig });
}

async function startContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { daemon, signal, onState } = application;
  const { docker } = daemon;
  const { part, options, check } = container;
  const explain = async (error: unknown) => {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw await notReady(container, error, docker);
  };
  signal.throwIfAborted();
  onState(part.name, 'starting');
  await awaitFounder(part, application).catch(explain);
  const refuse = (error: unknown) => {
    throw notStarted(container, error);
  };
  await docker.getContainer(options.name).start().catch(refuse);
  const { startMaxMs: timeoutMs } = part.limits;
  await waitUntilContainerReady(docker, options.name, check, { timeoutMs, signal }).catch(explain);
  onState(part.name, 'healthy');
  await settle(container, application);
}

/** The port is published a moment after the part listens in its container. */
const publishedWithinMs = 5000;

/** Tells a ready part what it must know before a part that needs it starts. Idempotent. */
async function settle({ part }: ContainerPlan, application: Application): Promise<void> {
  const { plan, signal } = application;
  // One process of a service hands the setting to the others.
  if (part.name === 'backend') {
    await waitUntilReady(readyAt(part.url), { timeoutMs: publishedWithinMs, signal });
    await registerIdentities(part.url, plan, signal);
  }
  // A command that runs the graph without a backend provisions it itself.
  const hasBackend = plan.parts.some(({ service }) => service === 'backend');
  if (part.name === 'dgraph-alpha' && hasBackend) await provisionGraphInside(application);
}

/** Docker reports a taken port only in the text of its error. */
const takenPort = /(port is already allocated|address already in use)/i;

function notStarted({ part }: ContainerPlan, cause: unknown): SvcError {
  const words = wordsOf(cause);
  if (takenPort.test(words)) {
    const ports = part.published.map(({ port }) => port);
    const port = ports.find((one) => findPortHolder(one) !== null) ?? ports[0] ?? 0;
    return lostPort(`${part.name} failed to start: port ${port} is in use by ${describePortOwner(port)}.`, {
      hint: 'Stop that program, or change the port in svc.yaml (auto takes the next free one).',
      cause,
    });
  }
  return new SvcError('unavailable', `${part.name} failed to start: ${words}.`, {
    hint: isDiskFull(cause) ? makeRoom : 'Check Docker: docker info',
    cause,
  });
}
