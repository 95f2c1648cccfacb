import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import type { Logger } from '../../kit/log.ts';
import type { Backend } from '../context.ts';
import { type Access, getAccess, requireRight } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { GraphqlContext } from './builder.ts';
import { errorToGraphql } from './error-to-graphql.ts';
import { checkLimits, limits } from './limits.ts';
import { createLoader } from './loader.ts';
import { createSchema } from './schema.ts';

/** An operation takes milliseconds; what takes this long has met a fault that a caller should hear of. */
export const operationDeadlineMs = 10_000;

export interface GraphqlRequest {
  readonly principal: TokenPrincipal;
  readonly requestId: string;
  /** The JSON text of the request's body. */
  readonly body: string;
  readonly accept: string;
}

export interface GraphqlEndpoint {
  answer(request: GraphqlRequest): Promise<Response>;
}

/** GraphQL over HTTP, POST only. Whoever gets this far has shown who they are, so introspection is open. */
export function createGraphqlEndpoint(backend: Backend, deadlineMs = operationDeadlineMs): GraphqlEndpoint {
  const yoga = createYoga<RequestContext>({
    schema: createSchema(),
    graphqlEndpoint: graphqlPath,
    plugins: [boundedParser, boundedExecution, shownErrors(backend.log('graphql'))],
    // Errors are shown by `shownErrors`, which knows the request.
    maskedErrors: false,
    logging: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
  });
  return {
    async answer({ principal, requestId, body, accept }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new SvcError('timeout', tooLong)), deadlineMs);
      try {
        return await yoga.fetch(
          `http://backend${graphqlPath}`,
          { method: 'POST', headers: { 'content-type': 'application/json', accept }, body },
          requestContext(backend, { principal, requestId, signal: deadline.signal }),
        );
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const tooLong = 'The operation took too long and was given up. A change it was about to make may still be made.';

type RequestContext = GraphqlContext & { readonly signal: AbortSignal };

function requestContext(
  backend: Backend,
  { principal, requestId, signal }: Pick<RequestContext, 'principal' | 'requestId' | 'signal'>,
): RequestContext {
  const opened = new Map<WorkspaceId, Promise<Access>>();
  return {
    backend,
    principal,
    requestId,
    signal,
    load: createLoader(backend.graph, signal),
    async access(workspace, right) {
      const known = opened.get(workspace) ?? getAccess(backend.graph, { principal, workspace, right: 'read' });
      opened.set(workspace, known);
      const access = await known;
      requireRight(access, right);
      return access;
    },
  };
}

/** Graphql-js stops reading where a document is longer. */
const boundedParser: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string, options?: object) => parse(source, { ...options, maxTokens: limits.tokens }));
  },
};

/** What an operation would cost is known before it starts, and how long it may take once it has. */
const boundedExecution: Plugin<RequestContext> = {
  onExecute({ args, executeFn, setExecuteFn }) {
    checkOperation(args);
    const { signal } = args.contextValue;
    setExecuteFn((given: ExecutionArgs) => Promise.race([executeFn(given), failure(signal)]));
  },
};

function checkOperation({ schema, document, operationName, variableValues }: ExecutionArgs): void {
  const operation = findOperation(document, operationName);
  if (operation === null) return;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  // Wrong variables are refused by the execution, with the name of each.
  if (coerced !== undefined) checkLimits({ schema, document, operation, variables: coerced });
}

function findOperation(document: DocumentNode, name: string | null | undefined): OperationDefinitionNode | null {
  return getOperationAST(document, name) ?? null;
}

function failure(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function shownErrors(logger: Logger): Plugin<object, RequestContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result) || result.errors === undefined) return;
      const show = (error: GraphQLError) => errorToGraphql(error, serverContext.requestId, logger);
      const shown: ExecutionResult = { ...result, errors: result.errors.map(show) };
      setResult(shown);
    },
  };
}
