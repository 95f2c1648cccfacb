import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { until } from './until.ts';

/** An agent with a session: the SDK's client, and the messages that it sent. */
export interface Agent {
  readonly client: Client;
  readonly session: string;
  /** Every JSON-RPC message that was sent, oldest first. */
  readonly sent: readonly Sent[];
  /** Number of sessions begun: one, as long as the platform keeps the first. */
  sessionsBegun(): number;
  listToolNames(): Promise<string[]>;
  /** Calls a tool and returns its text; an error that the tool reports is an error here too. */
  text(tool: string, args?: Record<string, unknown>): Promise<string>;
  /** Calls echo until it is answered. A failed call is repeated, as agents do. */
  works(message: string): Promise<void>;
}

export interface Sent {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: string | number } };
}

export async function connectAgent(url: string, key: string): Promise<Agent> {
  const sent: Sent[] = [];
  const client = new Client({ name: 'whole-path', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (input, init) => {
      if (typeof init?.body === 'string') sent.push(JSON.parse(init.body));
      return fetch(input, init);
    },
  });
  await client.connect(transport);
  const text: Agent['text'] = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(textOf(result));
    return textOf(result);
  };
  return {
    client,
    session: transport.sessionId ?? '',
    sent,
    sessionsBegun: () => sent.filter(({ method }) => method === 'initialize').length,
    async listToolNames() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
    text,
    works: (message) => until(async () => (await text('echo', { message }).catch(() => '')) === `Echo: ${message}`),
  };
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
