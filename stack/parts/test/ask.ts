import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

export interface TestRequest extends RequestOptions {
  /** Sent literally: nothing in it is resolved or decoded. */
  readonly path: string;
  readonly port: number;
  /** Of the certificate and of the header: it need not resolve. The contacted address is `hostname`, or 127.0.0.1. */
  readonly host: string;
  /** Null: without TLS. */
  readonly ca: string | null;
  readonly body?: string;
}

/** A request to this machine under some host name. */
export function send({ host, headers, ca, body, ...rest }: TestRequest): ClientRequest {
  const shared = { host: '127.0.0.1', ...rest, headers: { host: `${host}:${rest.port}`, ...headers }, agent: false };
  const sent = ca === null ? requestHttp(shared) : requestHttps({ ...shared, ca, servername: host });
  return sent.end(body);
}

export async function ask(asked: TestRequest) {
  const [response] = (await once(send(asked), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
