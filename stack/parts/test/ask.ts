import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface TestRequest extends RequestOptions {
  /** Sent literally: nothing in it is resolved or decoded. */
  readonly path: string;
  readonly port: number;
  /** Of the certificate and of the header: it need not resolve. */
  readonly host: string;
  /** The contacted address. Default: 127.0.0.1. */
  readonly to?: string;
  /** Null: without TLS. */
  readonly ca: string | null;
  readonly servername?: string;
  readonly body?: string;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request to this machine under some host name. */
export function send({
  host,
  to = '127.0.0.1',
  headers,
  ca,
  port,
  body,
  servername = host,
  ...rest
}: TestRequest): ClientRequest {
  const shared = { ...rest, host: to, port, headers: { host: `${host}:${port}`, ...headers }, agent: false };
  const sent = ca === null ? requestHttp(shared) : requestHttps({ ...shared, ca, servername });
  sent.end(body);
  return sent;
}

export function ask(asked: TestRequest): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const sent = send(asked);
    sent.once('error', reject);
    sent.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
  });
}
