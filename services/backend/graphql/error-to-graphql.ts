import { GraphQLError } from 'graphql';
import { type ErrorCode, SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';

/** How the gravest error of an operation shows in the HTTP status. Null: a GraphQL answer like any other, 200. */
const httpStatuses: Readonly<Record<ErrorCode, number | null>> = {
  invalid_input: null,
  unauthenticated: 401,
  forbidden: null,
  not_found: null,
  conflict: null,
  too_large: null,
  rate_limited: 429,
  timeout: 504,
  unavailable: 503,
  unsupported: null,
  cancelled: null,
  internal: null,
};

/**
 * Whatever an operation threw, as GraphQL shows it: `extensions.code` is of the closed set, `extensions.request` is the id to look for in
 * the log. A bug is logged, once, and its text stays inside.
 */
export function errorToGraphql(thrown: unknown, requestId: string, logger: Logger): GraphQLError {
  const located = thrown instanceof GraphQLError ? thrown : null;
  const error = expected(located, thrown) ?? withBugReported(located?.originalError ?? thrown, logger);
  const status = httpStatuses[error.code];
  return new GraphQLError(error.message, {
    nodes: located?.nodes ?? null,
    path: located?.path ?? null,
    extensions: {
      code: error.code,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      request: requestId,
      ...(status === null ? {} : { http: { status } }),
    },
  });
}

/** What GraphQL itself finds wrong, in syntax, in types or in variables, has no original error: that is the caller's to mend. */
function expected(located: GraphQLError | null, thrown: unknown): SvcError | null {
  if (thrown instanceof SvcError && thrown.code !== 'internal') return thrown;
  if (located === null) return null;
  const { originalError } = located;
  if (originalError === undefined || originalError instanceof GraphQLError) {
    return new SvcError('invalid_input', located.message);
  }
  return originalError instanceof SvcError && originalError.code !== 'internal' ? originalError : null;
}
