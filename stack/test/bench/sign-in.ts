import { OauthClient, signIn, startPublicPlatform } from '../../../services/remote-mcp/test/oauth.ts';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { result, tool } from '../../../services/remote-mcp/test/runtime.ts';
import { TestWorkspace } from '../../../services/remote-mcp/test/workspace.ts';
import { type Figure, medianMs } from './figure.ts';

const rounds = 20;
const limitMs = 500;

/** An agent without a token signs in and calls a tool. The person is signed in, and answers at once. */
export async function measureSignIn(): Promise<Figure[]> {
  const platform = await startPublicPlatform();
  try {
    const workspace = await TestWorkspace.create(platform, 'acme');
    await workspace.mcpServer('files', [tool('echo')]);
    await workspace.role('All', [await workspace.skill('all', ['files/echo'])]);
    platform.runtime.answer(async () => result({ content: [] }));
    const person = await signIn(platform, 'acme@example.com');
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      const client = await OauthClient.register(await authorizationServerOf(platform.mcpUrl));
      const { access_token: token } = await client.connect(person, workspace.id);
      const session = await openSession(platform.mcpUrl, token);
      const body = rpc('tools/call', { name: 'call_tool', arguments: { name: 'echo', arguments: {} } });
      if (!isGood(await send(platform.mcpUrl, { key: token, session, body }))) throw new Error('the call failed');
      times.push(performance.now() - began);
    }
    return [medianMs('sign-in of an agent, from the 401 to its first call', times, limitMs)];
  } finally {
    await platform.stop();
  }
}

/** As a client finds it (MCP 2025-11-25, "Authorization Server Discovery"). */
async function authorizationServerOf(mcpUrl: string): Promise<string> {
  const refused = await send(mcpUrl, { body: rpc('ping') });
  const [, metadata = ''] = /resource_metadata="([^"]*)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  const { authorization_servers: servers } = await (await fetch(metadata)).json();
  const { issuer } = await (await fetch(`${servers[0]}/.well-known/oauth-authorization-server`)).json();
  return issuer;
}
