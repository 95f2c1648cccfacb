import { createServer, request } from 'node:http';
import { listen, stopListening } from '../../kit/http/listen.ts';

/** The connection to the backend, blocked until the gate is opened. */
export interface Gate {
  readonly url: string;
  /** The number of requests that have arrived. */
  readonly asked: () => number;
  open(): void;
  stop(): Promise<void>;
}

export async function gateTo(backendUrl: string): Promise<Gate> {
  const opened = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer(async ({ url = '', headers }, response) => {
    asked++;
    await opened.promise;
    const { authorization = '' } = headers;
    request(backendUrl + url, { headers: { authorization } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  });
  const url = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url,
    asked: () => asked,
    open: () => opened.resolve(),
    stop: () => stopListening(server, 0),
  };
}
