import { request } from 'node:http';

/** A stream opened with GET. */
export interface TestStream {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** JSON-RPC messages, oldest first. */
  readonly messages: readonly { readonly method?: string }[];
  /** All received text, comments included. */
  text(): string;
  readonly closed: Promise<void>;
  close(): void;
}

export function openStream(
  url: string,
  { key, session, method = 'GET', body }: { key: string; session: string; method?: string; body?: unknown },
): Promise<TestStream> {
  return new Promise((resolve, reject) => {
    const messages: { readonly method?: string }[] = [];
    let text = '';
    const headers = {
      authorization: `Bearer ${key}`,
      'mcp-session-id': session,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const asked = request(url, { method, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`HTTP ${response.statusCode}`));
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        messages.length = 0;
        for (const [, data = ''] of text.matchAll(/^data: (.*)\n\n/gm)) messages.push(JSON.parse(data));
      });
      const closed = new Promise<void>((ended) => response.on('close', ended));
      response.on('error', () => undefined);
      resolve({ headers: response.headers, messages, text: () => text, closed, close: () => asked.destroy() });
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
