import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiError, JetStreamError, type JetStreamOptions } from '@nats-io/jetstream';
import { type NatsConnection, TimeoutError } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';

/** Nodes notice the loss of their leader within 4 to 9 s, and vote again that long after a vote without a winner: three rounds. */
const electionMaxMs = 30_000;
const pauseMs = 200;
/** Nothing answers a request without a leader. The client library would wait 5 s, often longer than the election lasts. */
const answerMaxMs = 2000;
const unavailable = 503;

/** Whether the server belongs to a cluster. */
export function isClustered({ info }: NatsConnection): boolean {
  return info?.cluster !== undefined;
}

/** How long an answer of JetStream may take, for requests that `throughElection` repeats. */
export function answerTimeout(connection: NatsConnection): JetStreamOptions {
  return isClustered(connection) ? { timeout: answerMaxMs } : {};
}

/**
 * Retries a JetStream request that is lost or refused while another node takes over from a dead one. So `work` must be
 * idempotent. A single node has no other to take over.
 */
export async function throughElection<Result>(
  connection: NatsConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  for (const until = performance.now() + electionMaxMs; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isClustered(connection) || !isUnserved(error) || performance.now() > until) throw error;
    }
    await pause(pauseMs);
  }
}

function isUnserved(error: unknown): boolean {
  if (error instanceof SvcError) return isUnserved(error.cause);
  if (error instanceof JetStreamApiError) return error.status === unavailable;
  // "no responders": nodes do not know the consumer yet, just after their start. The client does not export the class
  // of this error.
  if (error instanceof JetStreamError && 'code' in error) return error.code === unavailable;
  return error instanceof TimeoutError || isNotAnswered(error);
}

/** If JetStream does not answer, the client reports that it is not enabled, in a class that it does not export. */
export function isNotAnswered(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}
