import { once } from 'node:events';
import { Socket } from 'node:net';
import type Docker from 'dockerode';
import type { Container, ContainerCreateOptions } from 'dockerode';
import { z } from 'zod';
import { statusOf } from '../../../contracts/docker.ts';
import { settledWithin } from '../../time/settled-within.ts';
import type { Program } from '../program.ts';
import { splitOutput } from './output-frames.ts';

export interface ContainerStart {
  readonly docker: Docker;
  readonly options: ContainerCreateOptions & { readonly name: string };
  /** The first line that is written to it. */
  readonly firstLine: string;
}

/** A running container, seen from its standard input and output. */
export type ContainerProgram = Omit<Program, 'explain'> & {
  /** The error when Docker did not report the end: Docker itself was stopped. */
  lost(): unknown;
};

/** Throws Docker's refusal, and then leaves nothing behind. */
export async function startContainer({ docker, options, firstLine }: ContainerStart): Promise<ContainerProgram> {
  const container = docker.getContainer(options.name);
  let stream: Socket | null = null;
  try {
    await inTime(docker.createContainer(options));
    stream = await attach(container);
    stream.write(firstLine);
    const program = programOf(container, stream);
    await inTime(container.start());
    return program;
  } catch (error) {
    stream?.destroy();
    await removeContainer(container).catch(() => {}); // The first error says more.
    throw error;
  }
}

async function attach(container: Container): Promise<Socket> {
  const wanted = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const stream = await inTime(container.attach(wanted));
  if (stream instanceof Socket) return stream;
  throw new Error('it gave no connection to the container');
}

const waited = z.object({ StatusCode: z.number().int() });

/** How long after its output has closed Docker reports an end; a stopped Docker never does. */
const endToldWithinMs = 2000;

function programOf(container: Container, stream: Socket): ContainerProgram {
  let lost: unknown = null;
  const told = container.wait({ condition: 'next-exit' }).then((answer: unknown) => waited.parse(answer).StatusCode);
  const closed = once(stream, 'close').then(() => inTime(told, endToldWithinMs));
  const exited = Promise.race([told, closed]).then(
    (code) => ({ code, signal: null }),
    (error: unknown) => {
      lost = error;
      return { code: null, signal: null };
    },
  );
  return {
    ...splitOutput(stream),
    stdin: stream,
    pid: null,
    exited,
    exitAfterPipeMs: endToldWithinMs + 500,
    lost: () => lost,
    aboutToEnd: async () => {},
    async end(graceMs) {
      try {
        // Docker sends SIGTERM, then SIGKILL. The container may have ended by itself and be removed already.
        const stopped = tolerate(container.stop({ t: Math.ceil(graceMs / 1000) }), [304, 404]);
        await inTime(stopped, graceMs + answerMaxMs);
        await removeContainer(container);
      } finally {
        stream.destroy();
      }
    },
  };
}

/** Removes it, and returns after its removal; false if it did not exist. */
export async function removeContainer(container: Container): Promise<boolean> {
  // 409: Docker removes it already.
  const wasThere = await inTime(tolerate(container.remove({ force: true }), [404, 409]));
  await inTime(tolerate(container.wait({ condition: 'removed' }), [404]));
  return wasThere;
}

/** Docker creates and ends containers slowly under load, and may hang. */
const answerMaxMs = 20_000;

export async function inTime<Result>(work: Promise<Result>, timeMs = answerMaxMs): Promise<Result> {
  if (await settledWithin(work, timeMs)) return work;
  throw Object.assign(new Error('Docker did not answer in time'), { code: 'ETIMEDOUT' });
}

/** False when Docker gave one of these answers instead. */
async function tolerate(work: Promise<unknown>, answers: readonly number[]): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (answers.includes(statusOf(error) ?? 0)) return false;
    throw error;
  }
}
