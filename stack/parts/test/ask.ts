import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

export interface TestRequest extends RequestOptions {
  /** The path is sent literally: it is neither resolved nor decoded. */
  readonly path: string;
  readonly port: number;
  /** The name in the certificate and the header, which need not resolve. The request goes to `hostname`, or 127.0.0.1. */
  readonly host: string;
  /** The trusted certificate. Null means no TLS. */
  readonly ca: string | null;
  readonly body?: string;
}

/** Sends a request to this machine under this host name. */
export function send({ host, headers, ca, body, ...rest }: TestRequest): ClientRequest {
  const shared = { host: '127.0.0.1', ...rest, headers: { host: `${host}:${rest.port}`, ...headers }, agent: false };
  const sent = ca === null ? requestHttp(shared) : requestHttps({ ...shared, ca, servername: host });
  return sent.end(body);
}

export async function ask(request: TestRequest) {
  const [response] = (await once(send(request), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
