import { grpc } from 'dgraph-js';
import { expect, it } from 'vitest';
import { Aborted, isSilent, isUnanswered, isUnsent, Taken, toClusterError, toCommitError } from './cluster-errors.ts';

const servers = ['127.0.0.1:9080', '127.0.0.1:9081'];
const answered = (code: number, details: string) => Object.assign(new Error(details), { code, details });

it('a conflict with another transaction is distinguished from every other error', () => {
  for (const answer of [
    answered(grpc.status.ABORTED, 'x'),
    answered(grpc.status.UNKNOWN, 'Transaction has been aborted. Please retry'),
  ]) {
    expect(toClusterError(answer, servers)).toBeInstanceOf(Aborted);
  }
});

it('a taken value is recognised by its predicate, whatever the value and the namespace', () => {
  const said = (value: string, predicate: string) =>
    toClusterError(answered(2, `could not insert duplicate value [${value}] for predicate [${predicate}]`), servers);
  expect(said('x', 'role.unique.name')).toMatchObject({ predicate: 'role.unique.name' });
  expect(said('a]\n for predicate [b', '17-role.id')).toMatchObject({ predicate: 'role.id' });
  expect(said('x', 'role.id')).toBeInstanceOf(Taken);
});

it("an error of the cluster contains neither the query nor the cluster's answer", () => {
  for (const code of [2, 4, 7, 8, 13, 14, 16]) {
    const error = toClusterError(answered(code, 'while lexing { secret }'), servers);
    expect(error).toMatchObject({ code: code === 8 ? 'too_large' : 'unavailable' });
    expect(String(error)).not.toContain('secret');
  }
  expect(toClusterError(answered(14, ''), servers)).toMatchObject({
    message: expect.stringContaining('"127.0.0.1:9080", "127.0.0.1:9081"'),
    hint: expect.stringContaining('PRIVATE_GRAPHDB_GRPC_URL'),
  });
});

it('a refused login does not blame the password alone: a node without its data has no users', () => {
  expect(toClusterError(answered(2, 'invalid username or password'), servers)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('does not know our user, or the password is wrong'),
    hint: expect.stringMatching(/lost its data.*svc status.*PRIVATE_GRAPHDB_PASSWORD/),
  });
});

it('an error of a node that is still starting counts as unreachable, because the node has carried out nothing', () => {
  const beginning = answered(2, 'Please retry again, server is not ready to accept requests');
  expect([isUnanswered(beginning), isUnsent(beginning)]).toEqual([true, true]);
  for (const toError of [toClusterError, toCommitError]) {
    expect(toError(beginning, servers)).toMatchObject({ message: expect.stringContaining('cannot be reached') });
  }
  // The node has not read the user's rights yet.
  expect(isUnsent(answered(7, 'unauthorized to mutate following predicates: setting.name'))).toBe(true);
  // A cluster may carry out a request without answering it.
  const gone = answered(14, 'Connection dropped');
  expect([isUnanswered(gone), isUnsent(gone)]).toEqual([true, false]);
  expect(isUnsent(answered(14, 'No connection established'))).toBe(true);
  expect(isUnsent(answered(2, 'No connection established'))).toBe(false);
});

it('a call that never had a connection was not sent, also if it ended at its deadline', () => {
  for (const unsent of [
    answered(4, 'Deadline exceeded after 0.5s,Waiting for LB pick'),
    answered(14, 'No connection established'),
  ]) {
    expect(isUnsent(unsent)).toBe(true);
    for (const toError of [toClusterError, toCommitError]) {
      expect(toError(unsent, servers)).toMatchObject({ message: expect.stringContaining('cannot be reached') });
    }
  }
  const late = answered(4, 'Deadline exceeded after 0.5s,remote_addr=127.0.0.1:9080');
  expect(isUnsent(late)).toBe(false);
  expect(toClusterError(late, servers)).toMatchObject({ message: expect.stringContaining('did not answer in time') });
});

it('a call that ended at its deadline is silence, whether it was cancelled or late', () => {
  expect([1, 4, 2, 14].map((code) => isSilent(answered(code, 'x')))).toEqual([true, true, false, false]);
});

it('a full disk is named', () => {
  const error = toClusterError(answered(2, 'write /data/w/1.mem: no space left on device'), servers);
  expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('disk') });
});

it('an error of another origin passes unchanged', () => {
  const bug = new TypeError('x');
  expect(toClusterError(bug, servers)).toBe(bug);
});
