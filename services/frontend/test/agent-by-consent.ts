import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { Platform } from '../../../stack/test/platform.ts';

/** Connects an agent by OAuth, to which the person of the page consents. Returns its access token. */
export async function agentByConsent(platform: Platform, page: Page, name: string): Promise<string> {
  const backend = `http://localhost:${platform.ports.backend}`;
  const resource = `http://localhost:${platform.ports['remote-mcp']}/mcp`;
  const answered = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    answered.resolve(new URL(request.url ?? '', resource).searchParams.get('code') ?? '');
    response.end('Done.');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const registered = await fetch(`${backend}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: 'none' }),
  });
  const { client_id: client } = (await registered.json()) as { client_id: string };
  const verifier = 'v'.repeat(50);
  const asked = { client_id: client, redirect_uri: redirect, resource };
  const query = {
    ...{ ...asked, response_type: 'code', state: 's', code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
  await page.goto(`${backend}/connect/authorize?${new URLSearchParams(query)}`);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const code = await answered.promise;
  await page.getByText('Done.').waitFor();
  server.close();
  const form = { ...asked, grant_type: 'authorization_code', code, code_verifier: verifier };
  const token = await fetch(`${backend}/connect/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await token.json()) as { access_token: string }).access_token;
}
