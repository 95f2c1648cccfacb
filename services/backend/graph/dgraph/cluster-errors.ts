import { grpc } from 'dgraph-js';
import { SvcError } from '../../../contracts/errors.ts';

/** Another transaction came first. Nothing was stored, and the work may run again. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** A unique value is taken. Nothing was stored. */
export class Taken extends Error {
  override readonly name = 'Taken';
  readonly predicate: string;

  constructor(predicate: string, options: ErrorOptions) {
    super(`a value of ${predicate} is taken`, options);
    this.predicate = predicate;
  }
}

/** Seen of a Dgraph whose users were made in several steps: a data node that began again held to the rights of a step before the last. */
const giveRights =
  'Where that lasts, type svc down, then svc up; in a Dgraph that somebody else runs, give the rights to read, write and modify dgraph.all, again where our user has them.';

/** A node shows nothing of what is there. */
export class Hidden extends SvcError {
  constructor(server: string) {
    super('unavailable', `The graph database at "${server}" shows our user nothing.`, {
      hint: `A node does so for a moment after its start, and while most nodes of Dgraph are down: svc status lists them. ${giveRights}`,
    });
  }
}

/** What Dgraph answered, or why it did not, as an error for whoever asked. */
export function toClusterError(thrown: unknown, servers: readonly string[]): unknown {
  if (!isServiceError(thrown)) return thrown;
  const { code, details } = thrown;
  if (code === grpc.status.ABORTED || /transaction has been aborted/i.test(details)) {
    return new Aborted('another transaction came first', { cause: thrown });
  }
  // With multi-tenancy a predicate's name has its namespace before it.
  const [, taken] = /duplicate value \[[\s\S]*\] for predicate \[(?:\d+-)?([^\]]+)\]/.exec(details) ?? [];
  if (taken !== undefined) return new Taken(taken, { cause: thrown });
  const where = servers.map((server) => `"${server}"`).join(', ');
  const refusal = refusals[refusalCode(thrown)];
  if (refusal !== undefined) return refusal(where, thrown);
  if (/no space left on device/i.test(details)) {
    return new SvcError('unavailable', 'The disk of the graph database is full: nothing was saved, nothing is lost.', {
      hint: 'Make room on the disk of Dgraph, then try again.',
      cause: thrown,
    });
  }
  return new SvcError('unavailable', `The graph database at ${where} could not carry out what was asked.`, {
    hint: 'Its log says why: svc logs dgraph-alpha',
    cause: thrown,
  });
}

/** Nobody answered, or one that has only begun: another node may be asked the same question. */
export function isUnanswered(thrown: unknown): boolean {
  if (thrown instanceof Hidden) return true;
  return isServiceError(thrown) && (thrown.code === grpc.status.UNAVAILABLE || isBeginning(thrown));
}

/** No node answered in time, and none refused. A call that passes its deadline may end as CANCELLED, as on a node that waits for another. */
export function isSilent(thrown: unknown): boolean {
  return isServiceError(thrown) && [grpc.status.DEADLINE_EXCEEDED, grpc.status.CANCELLED].includes(thrown.code);
}

/** Nobody was even connected, or nobody takes requests yet, or not from us, so that nothing can have been done. */
export function isUnsent(thrown: unknown): boolean {
  if (!isServiceError(thrown)) return false;
  return isBeginning(thrown) || isUnconnected(thrown) || thrown.code === grpc.status.PERMISSION_DENIED;
}

/** The answer to what may have been stored did not come. */
export function toCommitError(thrown: unknown, servers: readonly string[]): unknown {
  const isLost = isServiceError(thrown) && lost.includes(thrown.code) && !isUnsent(thrown);
  if (!isLost) return toClusterError(thrown, servers);
  return new SvcError('unavailable', 'The graph database went away: whether the change was saved is not known.', {
    hint: 'Look whether it is there before you repeat it.',
    cause: thrown,
  });
}

/** Whoever asks is not logged in, or no longer. */
export function isLoggedOut(thrown: unknown): boolean {
  return isServiceError(thrown) && thrown.code === grpc.status.UNAUTHENTICATED;
}

/** Dgraph changes its schema, or waits for transactions to end before it does. */
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
    new SvcError('unavailable', `The graph database at ${where} does not allow our user what it needs.`, {
      hint: giveRights,
      cause,
    }),
  [grpc.status.RESOURCE_EXHAUSTED]: (_, cause) =>
    new SvcError('too_large', 'What was asked is more than the graph database gives or takes at once.', { cause }),
};

/** What came back says it better than its code does. */
function refusalCode({ code, details }: grpc.ServiceError): number {
  if (/invalid username or password|no accessJwt available/i.test(details)) return grpc.status.UNAUTHENTICATED;
  return isBeginning({ details }) || isUnconnected({ code, details }) ? grpc.status.UNAVAILABLE : code;
}

/** The client was still connecting when the call ended, some of them at their deadline. */
function isUnconnected({ code, details }: Pick<grpc.ServiceError, 'code' | 'details'>): boolean {
  if (code === grpc.status.DEADLINE_EXCEEDED) return /waiting for LB pick/i.test(details);
  const isUnsaid = /no connection established|name resolution failed|channel closed before call started/i.test(details);
  return code === grpc.status.UNAVAILABLE && isUnsaid;
}

/** A node listens before it takes requests. */
function isBeginning({ details }: Pick<grpc.ServiceError, 'details'>): boolean {
  return /server is not ready to accept requests/i.test(details);
}

function isServiceError(thrown: unknown): thrown is grpc.ServiceError {
  return thrown instanceof Error && 'details' in thrown && 'code' in thrown && typeof thrown.code === 'number';
}
