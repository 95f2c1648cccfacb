import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, SvcError } from '../contracts/errors.ts';
import { graphqlPath } from '../contracts/token.ts';
import { errorToHttp } from '../kit/http/error-to-http.ts';
import { withBugReported } from '../kit/report-bug.ts';
import type { Backend } from './context.ts';

/** Whatever a route throws, and what fastify refuses before any route, in the shape that the caller of that path reads. */
export function addErrors(app: FastifyInstance, backend: Pick<Backend, 'log'>): void {
  const logger = backend.log('http');
  app.setErrorHandler((thrown, request, reply) => {
    const error = withBugReported(refusalOf(thrown) ?? thrown, logger.child({ request: request.id }));
    return send(request, reply, error);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]?.slice(0, 200);
    return send(request, reply, new SvcError('not_found', `There is no ${request.method} "${path}" here.`));
  });
}

function send(request: FastifyRequest, reply: FastifyReply, error: SvcError): FastifyReply {
  const { status, body } = errorToHttp(error);
  // RFC 9110 §11.6.1: a 401 says how to do better.
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(status).type('application/json').header('cache-control', 'no-store');
  if (request.routeOptions.url !== graphqlPath) return reply.send(body);
  const { code, message, hint } = error;
  const extensions = { code, ...(hint === undefined ? {} : { hint }), request: request.id };
  return reply.send({ errors: [{ message, extensions }] });
}

/** What fastify itself refuses. */
function refusalOf(thrown: unknown): SvcError | null {
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined;
  if (!(thrown instanceof Error) || typeof status !== 'number' || status < 400 || status > 499) return null;
  return new SvcError(codes[status] ?? 'invalid_input', messages[status] ?? thrown.message, { cause: thrown });
}

const codes: Readonly<Record<number, ErrorCode>> = { 408: 'timeout', 413: 'too_large', 415: 'unsupported' };
const messages: Readonly<Record<number, string>> = {
  413: 'The request is larger than 4 MiB.',
  415: 'Send the request as application/json.',
};
