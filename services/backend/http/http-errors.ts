import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, SvcError } from '../../contracts/errors.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import { HttpRefusal } from '../../kit/http/http-refusal.ts';
import { RefusedBodies } from '../../kit/http/refused-bodies.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import type { WithLog } from '../bus/with-bus.ts';

/** Answers every error of a route, and fastify's own refusals, in the form that the caller of that path reads. */
export function addErrors(app: FastifyInstance, backend: WithLog): void {
  const logger = backend.log('http');
  const refused = new RefusedBodies();
  const send = (request: FastifyRequest, reply: FastifyReply, error: SvcError, status?: number) => {
    refused.drop(request.raw);
    return answer(request, reply, error, status);
  };
  app.setErrorHandler((thrown, request, reply) => {
    const refusal = refusalOf(thrown);
    if (refusal !== null) return send(request, reply, refusal.error, refusal.status);
    if (thrown instanceof HttpRefusal) {
      addHeaders(reply, thrown.headers);
      return send(request, reply, thrown, thrown.status);
    }
    return send(request, reply, withBugReported(thrown, logger.child({ request: request.id })));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]?.slice(0, 200);
    return send(request, reply, new SvcError('not_found', `The backend has no ${request.method} "${path}".`));
  });
}

function answer(request: FastifyRequest, reply: FastifyReply, error: SvcError, given?: number): FastifyReply {
  const { status: usual, body } = errorToHttp(error);
  const status = given ?? usual;
  // RFC 9110 §11.6.1: a 401 names the way to authenticate.
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(status).type('application/json').header('cache-control', 'no-store');
  if (request.routeOptions.url !== graphqlPath) return reply.send(body);
  const { code, message, hint } = error;
  const extensions = { code, ...(hint === undefined ? {} : { hint }), request: request.id };
  return reply.send({ errors: [{ message, extensions }] });
}

/** Names and values take turns, as in `ServerResponse.writeHead`. */
function addHeaders(reply: FastifyReply, headers: readonly string[]): void {
  for (let at = 0; at + 1 < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1]);
}

/** Fastify's own refusals, with their status, which may be more exact than ours. */
function refusalOf(thrown: unknown): { readonly error: SvcError; readonly status: number } | null {
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined;
  if (!(thrown instanceof Error) || typeof status !== 'number' || status < 400 || status > 499) return null;
  const { code, message } = refusals[status] ?? { code: 'invalid_input', message: thrown.message };
  return { error: new SvcError(code, message, { cause: thrown }), status };
}

const refusals: Readonly<Record<number, { readonly code: ErrorCode; readonly message: string }>> = {
  408: { code: 'timeout', message: 'The request took too long to arrive.' },
  415: { code: 'unsupported', message: 'Send the request as application/json.' },
};
