import type { CallToolResult, Client, Progress, Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { timeOfDate } from '../services/contracts/clocks.ts';
import { isErrorCode, SvcError } from '../services/contracts/errors.ts';
import { inWordsAlone } from '../services/contracts/system-words.ts';
import { explainRefusedToken } from '../stack/client/refused-token.ts';
import { parseJson } from '../stack/machine/parse-json.ts';

/** A session with remote-mcp, as an agent has one. */
export interface Agent {
  tools(): Promise<readonly Tool[]>;
  call(
    tool: CalledTool,
    input: Record<string, unknown>,
    onProgress: (progress: Progress) => void,
  ): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface CalledTool {
  /** The name for agents. */
  readonly name: string;
  readonly mcpServer: string;
}

export interface AgentOptions {
  /** The address of remote-mcp. */
  readonly url: URL;
  /** An API key, or an operator's token. */
  readonly token: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Longer than remote-mcp lets a silent call run. */
const callMaxMs = 31 * 60_000;

export async function connectAgent({ url, token, version, signal }: AgentOptions): Promise<Agent> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'svc', version });
  let dateMs: number | null = null;
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    async fetch(address, init) {
      const response = await fetch(address, init);
      dateMs = timeOfDate(response.headers.get('date'));
      return response;
    },
  });
  await explained(client.connect(transport, { signal })).catch((error: unknown) => {
    throw error instanceof SvcError ? explainRefusedToken(error, { dateMs, whose: "remote-mcp's" }) : error;
  });
  return {
    tools: () => explained(allTools(client, signal)),
    call: ({ name, mcpServer }, input, onProgress) => {
      const options = { signal, timeout: callMaxMs, maxTotalTimeout: callMaxMs, onprogress: onProgress };
      return explained(client.callTool({ name, arguments: input }, options), mcpServer);
    },
    async close() {
      // The session ends with its idle time at the latest.
      await transport.terminateSession().catch(() => undefined);
      await client.close();
    },
  };
}

async function allTools(client: Client, signal: AbortSignal): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { signal });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** The client's errors hold the platform's answers, or a failure of the network. */
async function explained<Result>(work: Promise<Result>, mcpServer: string | null = null): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw explain(error, mcpServer);
  }
}

const said = z.object({
  message: z.string(),
  code: z.union([z.string(), z.number()]).optional(),
  hint: z.string().optional(),
  data: z.object({ code: z.string(), hint: z.string() }).partial().optional(),
});
const httpBody = z.object({ error: said });

/** The error that the platform answered, in its own words. Only errors of MCP servers have none of its codes. */
function explain(error: unknown, mcpServer: string | null): unknown {
  if (!(error instanceof Error) || error instanceof SvcError) return error;
  if (error instanceof TypeError) {
    return new SvcError('unavailable', `remote-mcp cannot be reached: ${inWordsAlone(error.cause ?? error)}.`, {
      hint: 'Show the state: svc status',
      cause: error,
    });
  }
  const data = 'data' in error ? error.data : undefined;
  const text = typeof data === 'object' && data !== null && 'text' in data ? String(data.text) : '';
  const answer = httpBody.safeParse(parseJson(text)).data?.error ?? said.safeParse(error).data;
  if (answer === undefined) return error;
  const code = [answer.code, answer.data?.code].find(isErrorCode);
  if (code === undefined && mcpServer !== null) {
    return new SvcError('unavailable', `The MCP server "${mcpServer}" answered with an error: ${answer.message}`, {
      hint: `Read what it wrote: svc server logs ${mcpServer}`,
      cause: error,
    });
  }
  const hint = answer.hint ?? answer.data?.hint;
  return new SvcError(code ?? 'unavailable', answer.message, { ...(hint === undefined ? {} : { hint }), cause: error });
}
