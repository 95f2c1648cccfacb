import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SvcError } from '../../contracts/errors.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Budget, type Held } from '../../kit/budget.ts';
import type { AdmittedConnections } from '../../kit/http/admitted-connections.ts';
import { HttpRefusal } from '../../kit/http/http-refusal.ts';
import { LargeMessages } from '../../kit/http/large-messages.ts';
import { readBody } from '../../kit/http/read-body.ts';
import { responseClosed } from '../../kit/http/response-closed.ts';
import { depthMax, locateMembers, valueBytes, valuesMax } from '../../kit/json-members.ts';
import { ownerOf } from '../tokens/owner-of.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { authenticate } from './authenticate.ts';
import { createGraphqlEndpoint } from './endpoint.ts';
import type { GraphqlNeeds } from './graphql-needs.ts';
import { GraphqlSockets } from './graphql-socket.ts';
import { Operation } from './operation.ts';

const mebibyte = 1024 * 1024;
/**
 * For bodies, and for answers that wait to be read. A user's share is five bodies of the largest size, or dozens of
 * large answers.
 */
const memoryLimits = { total: 256 * mebibyte, shares: { user: 64 * mebibyte } };
/** A change of one user waits for at most this many operations of another. `svc apply` sends eight at once. */
const operationLimits = { total: 256, shares: { user: 32 } };

interface Surface {
  readonly origins: readonly string[];
  readonly connections: AdmittedConnections<'user'>;
}

/**
 * `POST /graphql`, and its WebSockets, which are returned. A request holds memory of its user until its operation has
 * ended, and its answer is sent or its client has disconnected.
 */
export function addGraphql(
  app: FastifyInstance,
  backend: GraphqlNeeds,
  { origins, connections }: Surface,
): GraphqlSockets {
  const endpoint = createGraphqlEndpoint(backend);
  const hint = 'Send fewer or smaller requests at the same time, and read each answer.';
  const memory = new Budget({ what: 'bytes of memory', hint, ...memoryLimits });
  const waitHint = 'Wait for the answers to earlier operations, then try again.';
  const largeMessages = new LargeMessages();
  const operations = new Budget({ what: 'running operations', hint: waitHint, ...operationLimits });
  app.register(async (graphql) => {
    graphql.decorateRequest('principal', null);
    graphql.removeAllContentTypeParsers();
    // The handler reads the body.
    graphql.addContentTypeParser('application/json', (_request, _body, done) => done(null));
    graphql.route({
      method: 'POST',
      url: graphqlPath,
      // Authenticates before the body is read: unauthenticated clients cost nothing more.
      onRequest: async (request) => {
        refuseChunked(request);
        request.principal = await authenticate(backend, request, origins);
        connections.use(request.raw.socket, ownerOf(request.principal));
      },
      handler: async (request, reply) => {
        const { principal, id, headers } = request;
        if (principal === null) throw new Error('a request came past its authentication');
        const owner = ownerOf(principal);
        const held = memory.hold(owner, 0);
        try {
          const bytes = await readBody(request.raw, held);
          if (bytes === null) throw new SvcError('cancelled', 'The client left before its body had arrived.');
          const body = await largeMessages.read(owner.user, bytes.length, () => readText(bytes, held));
          const place = operations.hold(owner, 1);
          const operation = new Operation(owner.user, held);
          void operation.ended.then(() => place.release());
          const accept = headers.accept ?? 'application/json';
          const response = await endpoint.answer({ principal, requestId: id, body, accept, operation });
          const answer = Buffer.from(await response.arrayBuffer());
          // Never more than before, because a refusal now would come after the change.
          void operation.ended.then(() => held.resize(Math.min(held.amount, answer.length)));
          reply
            .code(response.status)
            .type(response.headers.get('content-type') ?? 'application/json')
            .header('cache-control', 'no-store')
            .send(answer);
          await Promise.all([responseClosed(reply.raw), operation.ended]);
          return reply;
        } finally {
          held.release();
        }
      },
    });
  });
  return new GraphqlSockets(app.server, backend, { origins, connections, memory });
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: TokenPrincipal | null;
  }
}

/**
 * While a token is checked, ten thousand one-byte chunks can arrive, which take 10 ms. A GraphQL client has the whole
 * text.
 */
function refuseChunked({ headers }: FastifyRequest): void {
  if (headers['transfer-encoding'] === undefined) return;
  throw new HttpRefusal('invalid_input', 'The request has no Content-Length.', {
    ...{ status: 411, hint: 'Send the body as one text, not as a stream.' },
  });
}

/** The text is passed on unchanged: GraphQL parses it and reports its faults. */
function readText(body: Buffer, held: Held): string {
  const text = body.toString();
  held.resize(held.amount + valuesOf(text) * valueBytes);
  return text;
}

/** Upper bound of the values in a body. Throws when parsing would cost too much. */
function valuesOf(text: string): number {
  const located = locateMembers(text);
  switch (located) {
    case 'malformed':
      throw new SvcError('invalid_input', 'The body is not a JSON object.');
    case 'too_deep':
      throw new SvcError('invalid_input', `The body is nested more than ${depthMax} levels deep.`);
    case 'too_many':
      throw new SvcError('invalid_input', `The body holds more than ${valuesMax} values.`);
    default:
      return located.values;
  }
}
