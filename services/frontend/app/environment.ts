declare global {
  interface Window {
    readonly __ENV__: {
      readonly PUBLIC_BACKEND_URL: string;
      readonly PUBLIC_MCP_URL: string;
      readonly PUBLIC_MCP_KEYS_URL?: string;
    };
  }
}

/** The addresses of this installation, which the frontend's process writes into the document. */
export const { PUBLIC_BACKEND_URL: backendUrl, PUBLIC_MCP_URL: mcpUrl } = window.__ENV__;

/** The address for agents with an API key. */
export const keysUrl = window.__ENV__.PUBLIC_MCP_KEYS_URL ?? mcpUrl;
