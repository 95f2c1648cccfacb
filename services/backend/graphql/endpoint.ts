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
import { type Plugin, YogaServer } from 'graphql-yoga';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import type { Logger } from '../../kit/log.ts';
import { type Access, getAccess, requireRight } from '../members/access.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { GraphqlContext } from './builder.ts';
import { createGraphCounter } from './counted-graph.ts';
import { errorToGraphql } from './error-to-graphql.ts';
import type { GraphqlNeeds } from './graphql-needs.ts';
import { KeptDocuments, noErrors } from './kept-documents.ts';
import { checkLimits, limits } from './limits.ts';
import { createLoader } from './loader.ts';
import type { Operation } from './operation.ts';
import { createSchema } from './schema.ts';

/** An operation takes milliseconds; one that takes this long has met a fault that the caller should see. */
export const operationDeadlineMs = 10_000;

export interface GraphqlRequest {
  readonly principal: TokenPrincipal;
  readonly requestId: string;
  /** The JSON text of the request's body. */
  readonly body: string;
  readonly accept: string;
  /** Stopped when the answer is complete, and may end later. */
  readonly operation: Operation;
}

export interface GraphqlEndpoint {
  answer(request: GraphqlRequest): Promise<Response>;
}

/** GraphQL over HTTP, POST only. Every caller has authenticated before, so introspection is open. */
export function createGraphqlEndpoint(backend: GraphqlNeeds, deadlineMs = operationDeadlineMs): GraphqlEndpoint {
  const countedGraph = createGraphCounter(backend.graph);
  // Not createYoga: its adapter for HTTP frameworks loads Node's whole fetch, which nothing here uses.
  const yoga = new YogaServer<GraphqlContext, object>({
    schema: createSchema(),
    graphqlEndpoint: graphqlPath,
    plugins: [boundedParser, boundedExecution, withoutSubscriptions, shownErrors(backend.log('graphql'))],
    // Errors are shown by `shownErrors`, which knows the request.
    maskedErrors: false,
    logging: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    parserAndValidationCache: { documentCache: new KeptDocuments(), errorCache: noErrors },
  });
  return {
    async answer({ principal, requestId, body, accept, operation }) {
      const timer = setTimeout(() => operation.stop(new SvcError('timeout', tooLong)), deadlineMs);
      const graph = countedGraph(operation);
      try {
        const headers = { 'content-type': 'application/json', accept };
        const request = new yoga.fetchAPI.Request(`http://backend${graphqlPath}`, { method: 'POST', headers, body });
        const context = requestContext({ ...backend, graph }, { principal, requestId, operation });
        return await yoga.handle(request, { ...context, waitUntil: () => undefined });
      } finally {
        clearTimeout(timer);
        operation.stop(new SvcError('cancelled', 'The operation has been answered.'));
      }
    },
  };
}

const tooLong = 'The operation took too long and was given up. Its change may still be made.';

export function requestContext(
  backend: GraphqlNeeds,
  { principal, requestId, operation }: Pick<GraphqlContext, 'principal' | 'requestId' | 'operation'>,
): GraphqlContext {
  const opened = new Map<WorkspaceId, Promise<Access>>();
  return {
    backend,
    principal,
    requestId,
    operation,
    load: createLoader(backend.graph),
    async access(workspace, right) {
      const known = opened.get(workspace) ?? getAccess(backend.graph, { principal, workspace, right: 'read' });
      opened.set(workspace, known);
      const access = await known;
      requireRight(access, right);
      return access;
    },
  };
}

/** Graphql-js stops reading a longer document. */
const boundedParser: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string, options?: object) => parse(source, { ...options, maxTokens: limits.tokens }));
  },
};

/** Checks the cost of an operation before it starts, and its duration afterwards. */
const boundedExecution: Plugin<GraphqlContext> = {
  onExecute({ args, executeFn, setExecuteFn }) {
    const found = findOperation(args.document, args.operationName);
    if (found !== null) checkOperation(args, found);
    const { operation } = args.contextValue;
    if (found?.operation === 'mutation') operation.reserveChange();
    setExecuteFn((given: ExecutionArgs) =>
      Promise.race([operation.run(() => executeFn(given)), failure(operation.signal)]),
    );
  },
};

const withoutSubscriptions: Plugin = {
  onSubscribe() {
    throw new SvcError('unsupported', 'Subscriptions are answered over WebSocket only.', {
      hint: `Open a WebSocket at ${graphqlPath}, with the protocol graphql-transport-ws.`,
    });
  },
};

function checkOperation({ schema, document, variableValues }: ExecutionArgs, operation: OperationDefinitionNode): void {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  // The execution refuses wrong variables, with the name of each.
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

function shownErrors(logger: Logger): Plugin<object, GraphqlContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result) || result.errors === undefined) return;
      const show = (error: GraphQLError) => errorToGraphql(error, serverContext.requestId, logger);
      const shown: ExecutionResult = { ...result, errors: result.errors.map(show) };
      setResult(shown);
    },
  };
}
