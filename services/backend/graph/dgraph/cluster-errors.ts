import { grpc } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';

/** A conflict with another transaction. Nothing was stored, and the work may run again. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** Another node has the unique value. Nothing was stored. */
export class Taken extends Error {
  override readonly name = 'Taken';
  readonly predicate: string;

  constructor(predicate: string, options: ErrorOptions) {
    super(`a value of ${predicate} is taken`, options);
    this.predicate = predicate;
  }
}

/**
 * A Dgraph whose users were created in several steps: after a restart, a data node kept the rights of an earlier step.
 */
const giveRights =
  'If it lasts, run svc down, then svc up. In an external Dgraph, grant the rights to read, write and modify dgraph.all once more, even if our user has them.';

/** A node whose answers are empty because it does not know the rights of the platform's user. */
export class Hidden extends SvcError {
  constructor(server: string) {
    super('unavailable', `The graph database at "${server}" shows our user nothing.`, {
      hint: `This is normal for a moment after the start of a node, and while most nodes of Dgraph are down: svc status lists them. ${giveRights}`,
    });
  }
}

/** The answer of Dgraph, or the failure of a call, as an error for the caller. */
export function toClusterError(thrown: unknown, servers: readonly string[]): unknown {
  if (!isServiceError(thrown)) return thrown;
  const { code, details } = thrown;
  if (code === grpc.status.ABORTED || /transaction has been aborted/i.test(details)) {
    return new Aborted('another transaction came first', { cause: thrown });
  }
  // With several namespaces, the number of the namespace precedes the name of a predicate.
  const [, taken] = /duplicate value \[[\s\S]*\] for predicate \[(?:\d+-)?([^\]]+)\]/.exec(details) ?? [];
  if (taken !== undefined) return new Taken(taken, { cause: thrown });
  const where = servers.map((server) => `"${server}"`).join(', ');
  const refusal = refusals[refusalCode(thrown)];
  if (refusal !== undefined) return refusal(where, thrown);
  if (/no space left on device/i.test(details)) {
    return new SvcError('unavailable', 'The disk of the graph database is full: nothing was saved, nothing is lost.', {
      hint: 'Free some space on the disk of Dgraph, then try again.',
      cause: thrown,
    });
  }
  return new SvcError('unavailable', `The graph database at ${where} could not carry out the request.`, {
    hint: 'Read the reason in its log: svc logs dgraph-alpha',
    cause: thrown,
  });
}

/** Host unreachable, or a node that has just started. Another node may answer the same query. */
export function isUnanswered(thrown: unknown): boolean {
  if (thrown instanceof Hidden) return true;
  return isServiceError(thrown) && (thrown.code === grpc.status.UNAVAILABLE || isBeginning(thrown));
}

/** No answer before the deadline. Such a call may end as CANCELLED on a node that waits for another node. */
export function isSilent(thrown: unknown): boolean {
  return isServiceError(thrown) && [grpc.status.DEADLINE_EXCEEDED, grpc.status.CANCELLED].includes(thrown.code);
}

/** The node never processed the request: no connection, a node that is starting, or missing rights. */
export function isUnsent(thrown: unknown): boolean {
  if (!isServiceError(thrown)) return false;
  return isBeginning(thrown) || isUnconnected(thrown) || thrown.code === grpc.status.PERMISSION_DENIED;
}

/** The error of a change whose acknowledgement is missing: it may have been stored. */
export function toCommitError(thrown: unknown, servers: readonly string[]): unknown {
  const isLost = isServiceError(thrown) && lost.includes(thrown.code) && !isUnsent(thrown);
  if (!isLost) return toClusterError(thrown, servers);
  return new SvcError(
    'unavailable',
    'The connection to the graph database broke: it is unknown whether the change was saved.',
    {
      hint: 'Check whether the change was saved before you repeat it.',
      cause: thrown,
    },
  );
}

/** The access token is missing or expired. */
export function isLoggedOut(thrown: unknown): boolean {
  return isServiceError(thrown) && thrown.code === grpc.status.UNAUTHENTICATED;
}

/** Dgraph changes its schema, or waits for transactions to end before it changes it. */
export function isBusy(thrown: unknown): boolean {
  return (
    isServiceError(thrown) && /please retry|already (been )?(running|in progress)|is running/i.test(thrown.details)
  );
}

const lost: readonly number[] = [grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED, grpc.status.CANCELLED];

const refusals: Partial<Record<number, (where: string, cause: unknown) => SvcError>> = {
  [grpc.status.UNAVAILABLE]: (where, cause) =>
    new SvcError('unavailable', `The graph database at ${where} cannot be reached.`, {
      hint: 'Check that Dgraph runs, which svc status tells, and that PRIVATE_GRAPHDB_GRPC_URL names its gRPC port.',
      cause,
    }),
  [grpc.status.DEADLINE_EXCEEDED]: (where, cause) =>
    new SvcError('unavailable', `The graph database at ${where} did not answer in time.`, {
      hint: 'Check its load and its log: svc logs dgraph-alpha',
      cause,
    }),
  [grpc.status.UNAUTHENTICATED]: (where, cause) =>
    new SvcError('unavailable', `The graph database at ${where} does not know our user, or the password is wrong.`, {
      hint: 'A node of Dgraph that lost its data has no users: svc status names it. Otherwise check PRIVATE_GRAPHDB_USER and PRIVATE_GRAPHDB_PASSWORD.',
      cause,
    }),
  [grpc.status.PERMISSION_DENIED]: (where, cause) =>
    new SvcError('unavailable', `The graph database at ${where} denies our user rights that the platform needs.`, {
      hint: giveRights,
      cause,
    }),
  [grpc.status.RESOURCE_EXHAUSTED]: (_, cause) =>
    new SvcError('too_large', 'The request or its answer exceeds the size that the graph database accepts.', { cause }),
};

/** The text of some refusals is more precise than their code. */
function refusalCode({ code, details }: grpc.ServiceError): number {
  if (/invalid username or password|no accessJwt available/i.test(details)) return grpc.status.UNAUTHENTICATED;
  return isBeginning({ details }) || isUnconnected({ code, details }) ? grpc.status.UNAVAILABLE : code;
}

/** The call ended before the client had a connection, in some cases at its deadline. */
function isUnconnected({ code, details }: Pick<grpc.ServiceError, 'code' | 'details'>): boolean {
  if (code === grpc.status.DEADLINE_EXCEEDED) return /waiting for LB pick/i.test(details);
  const isUnsaid = /no connection established|name resolution failed|channel closed before call started/i.test(details);
  return code === grpc.status.UNAVAILABLE && isUnsaid;
}

/** A starting node listens before it accepts requests. */
function isBeginning({ details }: Pick<grpc.ServiceError, 'details'>): boolean {
  return /server is not ready to accept requests/i.test(details);
}

function isServiceError(thrown: unknown): thrown is grpc.ServiceError {
  return thrown instanceof Error && 'details' in thrown && 'code' in thrown && typeof thrown.code === 'number';
}
