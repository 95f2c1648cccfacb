import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { readyAt } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import type { ServiceState } from '../../state/transition.ts';
import { LostPort } from '../lost-port.ts';
import { registerAt } from '../register-identities.ts';
import type { ContainerPlan } from './container-plan.ts';
import { askReady, becomesReady, inspectContainer, patienceMs, waitUntilContainerReady } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { giveFiles, takeBackFiles } from './given-files.ts';
import { labels } from './names.ts';
import { notReady } from './not-ready.ts';
import { provisionGraphInside } from './provision-graph.ts';
import type { Step } from './reconcile.ts';
import { removeContainer } from './remove-container.ts';
import { runsAs } from './user.ts';

export interface Application {
  readonly steps: readonly Step[];
  /** Containers of parts that are no more. */
  readonly extra: readonly string[];
  readonly plan: Plan;
  readonly daemon: Daemon;
  /** The image of the services, by name. */
  readonly serviceImage: string;
  readonly logs: PlatformLogs;
  /** Nothing of it was there: all of it may start as soon as what it needs is ready. */
  readonly isFresh: boolean;
  readonly signal: AbortSignal;
  readonly onState: (name: string, state: ServiceState) => void;
  readonly onNotice: (message: string) => void;
}

/** Carries out what was decided. Throws why the first part that failed did. */
export async function applySteps(application: Application): Promise<void> {
  const { steps, extra, isFresh } = application;
  for (const name of extra) await removeExtra(name, application);
  if (!isFresh) {
    // What others needed was away for a moment: they take as long as after a start to be well again.
    let isShaken = false;
    for (const kind of Map.groupBy(steps, ({ container }) => container.part.service).values())
      isShaken = (await applyKind(kind, { ...application, isShaken })) || isShaken;
    return;
  }
  await Promise.all(steps.map(({ container }) => makeContainer(container, application)));
  const containers = steps.map(({ container }) => container);
  await startInOrder(containers, (container) => startContainer(container, application));
}

/**
 * What is not well starts at once: of a cluster none is ready before most of its nodes are there. What is well and shall be another is made anew
 * one after the other, so that of several one is always there, and of a cluster most. Tells whether any was started.
 */
async function applyKind(steps: readonly Step[], application: Shaken): Promise<boolean> {
  const areWell = await Promise.all(steps.map((step) => isWell(step, application)));
  await allOf(steps.filter((_, index) => !areWell[index]).map((step) => bring(step, application)));
  for (const step of steps.filter((_, index) => areWell[index])) await renew(step, application);
  return areWell.includes(false) || steps.some(({ kind }) => kind === 'make');
}

interface Shaken extends Application {
  /** Whether any part was started before. */
  readonly isShaken: boolean;
}

/** Waits for all, so that none is still starting where one has failed. */
async function allOf(started: Iterable<Promise<void>>): Promise<void> {
  const failed = (await Promise.allSettled(started)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function isWell(step: Step, { daemon: { docker }, isShaken, signal }: Shaken): Promise<boolean> {
  const { part, options, check } = step.container;
  switch (step.kind) {
    case 'keep':
      // What it needs was mended before it was its turn.
      return becomesReady(docker, options.name, check, {
        timeoutMs: isShaken ? part.limits.startMaxMs : patienceMs,
        signal,
      });
    case 'make':
      return step.isPeer && (await askReady(docker, options.name, check)).ready;
    case 'start':
    case 'unpause':
      return false;
  }
}

async function removeExtra(name: string, { plan, daemon, logs, onState }: Application): Promise<void> {
  const part = (await inspectContainer(daemon.docker, name))?.Config.Labels?.[labels.part] ?? name;
  await removeContainer(daemon.docker, { name, part }, logs);
  takeBackFiles(plan.installation, part);
  onState(part, 'stopped');
}

/** What is not well. */
async function bring({ kind, container }: Step, application: Application): Promise<void> {
  const { daemon, onNotice } = application;
  switch (kind) {
    case 'keep':
      onNotice(`${container.part.name} is not ready: it is made anew.`);
      return remakeContainer(container, application);
    case 'unpause': {
      const paused = daemon.docker.getContainer(container.options.name);
      const { RestartCount } = await paused.inspect();
      await paused.unpause();
      return awaitReady(container, application, RestartCount);
    }
    case 'start':
      return startContainer(container, application);
    case 'make':
      return remakeContainer(container, application);
  }
}

/** What is well. */
function renew({ kind, container }: Step, application: Application): Promise<void> {
  // What svc.yaml says of identities, and passwords that the graph shall know, are none of a container's variables.
  return kind === 'make' ? remakeContainer(container, application) : settle(container, application);
}

async function remakeContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { daemon, logs, onState } = application;
  const { name } = container.options;
  if ((await inspectContainer(daemon.docker, name)) !== null) {
    await removeContainer(daemon.docker, { name, part: container.part.name }, logs);
    onState(container.part.name, 'stopped');
  }
  await makeContainer(container, application);
  await startContainer(container, application);
}

async function makeContainer(container: ContainerPlan, { plan, daemon }: Application): Promise<void> {
  giveFiles(plan.installation, container, runsAs(plan.installation, daemon.isRootless).owner);
  await daemon.docker.createContainer(container.options);
  const [, ...others] = container.networks;
  const { name: Container } = container.options;
  const EndpointConfig = { Aliases: [container.part.name] };
  // One network is all that Docker takes with the container, up to 24.
  for (const name of others) await daemon.docker.getNetwork(name).connect({ Container, EndpointConfig });
}

async function startContainer(container: ContainerPlan, application: Application): Promise<void> {
  const { daemon, signal, onState } = application;
  const { part, options } = container;
  signal.throwIfAborted();
  onState(part.name, 'starting');
  await daemon.docker
    .getContainer(options.name)
    .start()
    .catch((error: unknown) => {
      throw notStarted(container, error);
    });
  await awaitReady(container, application);
}

async function awaitReady(container: ContainerPlan, application: Application, restarts = 0): Promise<void> {
  const { daemon, signal, onState } = application;
  const { part, options, check } = container;
  try {
    await waitUntilContainerReady(daemon.docker, options.name, check, {
      timeoutMs: part.limits.startMaxMs,
      signal,
      restarts,
    });
  } catch (error) {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw await notReady(container, error, daemon.docker);
  }
  onState(part.name, 'healthy');
  await settle(container, application);
}

/** What a part is told once it is ready, and before anything that needs it is started. Told again, it changes nothing. */
async function settle({ part }: ContainerPlan, application: Application): Promise<void> {
  // What one of them is told, all know.
  if (part.name === 'backend') await register(part.url, application);
  if (part.name === 'dgraph-alpha') await provisionGraphInside(application);
}

/** It listens in its container; a moment later it is reached from this machine too. */
const publishedWithinMs = 5000;

async function register(url: string, { plan, signal }: Application): Promise<void> {
  await waitUntilReady(readyAt(url), { timeoutMs: publishedWithinMs, signal });
  await registerAt(url, plan, signal);
}

/** Docker says in words only that a port is taken. */
const takenPort = /(port is already allocated|address already in use)/i;

function notStarted({ part, options }: ContainerPlan, cause: unknown): Error {
  const words = wordsOf(cause);
  if (takenPort.test(words)) {
    const ports = Object.values(options.HostConfig?.PortBindings ?? {}).flatMap(
      (list) => JSON.stringify(list).match(/\d+(?="\})/g) ?? [],
    );
    return new LostPort(
      new SvcError('conflict', `${part.name} failed to start: port ${ports.join(', ')} is taken by another program.`, {
        hint: `Stop that program, or change the port in svc.yaml (auto takes the next free one).`,
        cause,
      }),
    );
  }
  return new SvcError('unavailable', `${part.name} failed to start: ${words}.`, {
    hint: isDiskFull(cause) ? makeRoom : 'Look at Docker: docker info',
    cause,
  });
}
