import { GraphQLError } from 'graphql';
import { SvcError } from '../../contracts/errors.ts';
import { withoutKeys } from '../../contracts/keys.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';

/**
 * The GraphQL form of an error: `extensions.code` is of the closed set, `extensions.request` is the id in the log. A
 * bug is logged once, and its text is not shown.
 */
export function errorToGraphql(thrown: GraphQLError, requestId: string, logger: Logger): GraphQLError {
  const error = withBugReported(causeOf(thrown), logger.child({ request: requestId }));
  return new GraphQLError(error.message, {
    nodes: thrown.nodes ?? null,
    // An alias is the caller's own text as well.
    path: thrown.path?.map((part) => (typeof part === 'string' ? withoutKeys(part) : part)) ?? null,
    extensions: {
      code: error.code,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      request: requestId,
      // 400 when nothing was executed, so that no client takes it for an answer.
      ...(isUnreadable(thrown) ? { http: { status: 400 } } : {}),
    },
  });
}

/** Faults that GraphQL finds, in syntax, types or variables, have no other cause. */
function causeOf(error: GraphQLError): unknown {
  const { originalError } = error;
  if (originalError === undefined) return new SvcError('invalid_input', withoutValue(error.message));
  return originalError instanceof GraphQLError ? causeOf(originalError) : originalError;
}

/** GraphQL quotes the value that it cannot take, at the end of its message. It may be a secret in the wrong place. */
function withoutValue(message: string): string {
  return message.replace(/(, found (?:String |BlockString )?(?=["[{\d-])|\bvalue: )[\s\S]+$/, '$1[not shown].');
}

/** Not GraphQL, or not valid for the schema. */
function isUnreadable({ originalError, path }: GraphQLError): boolean {
  return originalError === undefined && path === undefined;
}
