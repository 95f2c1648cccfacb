import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { answerTimeout, throughElection } from './election.ts';

const connectedTo = (info: object) => ({ info }) as NatsConnection;
const cluster = connectedTo({ cluster: 'svc' });
const apiError = (code: number) => new JetStreamApiError({ code, err_code: 1, description: 'refused' });
/** As the client creates them from the status of a message. */
const statusError = (message: string, code: number) => Object.assign(new JetStreamError(message), { code });

/** Fails with these errors, one after the other, then succeeds. */
function failing(...errors: readonly Error[]) {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
}

describe('requests to several nodes while the leader changes', () => {
  test('are retried until they are answered', async () => {
    const work = failing(apiError(503), statusError('no responders', 503));
    expect(await throughElection(cluster, work)).toBe('done');
  });

  test.each([apiError(404), statusError('bad request', 400), new Error('ours')])(
    'that is refused for another reason (%s) is not retried',
    async (error) => await expect(throughElection(cluster, failing(error))).rejects.toBe(error),
  );
});

test('an answer of several nodes is awaited for less time than an election takes', () => {
  expect(answerTimeout(cluster).timeout).toBeLessThan(4000);
});

test('a request to a single node, which has no successor, is not retried and gets all the time of the client library', async () => {
  const error = statusError('no responders', 503);
  expect(answerTimeout(connectedTo({}))).toEqual({});
  await expect(throughElection(connectedTo({}), failing(error))).rejects.toBe(error);
});
