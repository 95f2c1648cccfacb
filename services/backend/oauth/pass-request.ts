import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import type { WithConfig } from '../bus/with-bus.ts';

export interface PassedRequest {
  /** Path and query. */
  readonly url: string;
  readonly body: Buffer | null;
  /** The client's network. */
  readonly network: string;
}

/** Tells the authorization server the network of the client. No header of the client has this name there. */
export const networkHeader = 'x-client-network';

/**
 * Hands a request to oidc-provider with only what the authorization server needs: the body was read and bounded before,
 * and the host and scheme are those of the public address, whatever the client says.
 */
export async function passRequest(
  provider: Provider,
  { config }: WithConfig<'PUBLIC_BACKEND_URL'>,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { url, body, network }: PassedRequest,
): Promise<void> {
  const { request, reply } = exchange;
  const { protocol, host, pathname } = new URL(config.PUBLIC_BACKEND_URL);
  const { accept, authorization, cookie, origin, ...rest } = request.headers;
  const headers = {
    ...Object.fromEntries(Object.entries({ accept, authorization, cookie, origin }).filter(([, value]) => value)),
    ...preflightHeaders(rest),
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-host': host,
    [networkHeader]: network,
    ...(body === null ? {} : { 'content-type': rest['content-type'] ?? '', 'content-length': String(body.length) }),
  };
  const passed = Object.assign(Readable.from(body === null ? [] : [body]), {
    ...{ method: request.method, url, headers, httpVersion: '1.1', socket: request.raw.socket },
    originalUrl: pathname === '/' ? url : `${pathname.replace(/\/$/, '')}${url}`,
  });
  reply.hijack();
  reply.raw.setHeader('x-request-id', request.id);
  reply.raw.setHeader('x-content-type-options', 'nosniff');
  await provider.callback()(passed as unknown as IncomingMessage, reply.raw as ServerResponse);
}

function preflightHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  const names = ['access-control-request-method', 'access-control-request-headers'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
