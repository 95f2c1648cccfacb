import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** An agent with a session: the SDK's client, and what it sent. */
export interface Agent {
  readonly client: Client;
  readonly session: string;
  /** Every JSON-RPC message that went out, oldest first. */
  readonly sent: readonly Sent[];
  /** How often it was told that its list of tools has changed. */
  listChanges(): number;
  listToolNames(): Promise<string[]>;
  /** Calls a tool and returns its text; what the tool itself calls an error is one here too. */
  text(tool: string, args?: Record<string, unknown>): Promise<string>;
}

export interface Sent {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: string | number } };
}

export async function connectAgent(url: string, key: string): Promise<Agent> {
  const sent: Sent[] = [];
  let listChanges = 0;
  const client = new Client({ name: 'whole-path', version: '1.0.0' });
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    listChanges++;
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (input, init) => {
      if (typeof init?.body === 'string') sent.push(JSON.parse(init.body));
      return fetch(input, init);
    },
  });
  await client.connect(transport);
  return {
    client,
    session: transport.sessionId ?? '',
    sent,
    listChanges: () => listChanges,
    async listToolNames() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
    async text(name, args = {}) {
      const result = await client.callTool({ name, arguments: args });
      if (result.isError) throw new Error(textOf(result));
      return textOf(result);
    },
  };
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
