import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ask } from '../parts/test/ask.ts';
import { certificateAt } from '../parts/test/certificate-at.ts';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import { hasPebble, startAuthority } from './authority.ts';
import { freePorts } from './free-ports.ts';
import { hasNatsServer, Platform } from './platform.ts';
import { publicSettings } from './public-settings.ts';

vi.setConfig({ testTimeout: 180_000 });

const host = 'agents.example.com';

/** A platform of real programs whose certificate comes from an ACME authority. */
describe.skipIf(!hasNatsServer || !hasCaddy || !hasPebble)('with an authority', () => {
  async function init({ directory, ca, https, http }: Readonly<Record<'directory' | 'ca', string>> & Ports) {
    const acme = { 'acme.email': 'operator@example.com', 'acme.directory': directory, 'acme.ca': ca };
    const settings = publicSettings({ host, tls: 'acme', ...acme, httpsPort: https, httpPort: http });
    // Each of two remote-mcps also has an address of its own, which the certificate does not cover.
    return Platform.init({ topology: 'distributed', settings, replicas: { 'remote-mcp': 2 } });
  }

  test.concurrent.each(['TLS', 'HTTP'] as const)(
    'a name that it has asked for over %s gets a certificate, which outlives the platform',
    async (over) => {
      const [https = 0, http = 0, nobodys = 0] = await freePorts(3);
      const asks = over === 'TLS' ? { httpPort: nobodys, tlsPort: https } : { httpPort: http, tlsPort: nobodys };
      await using authority = await startAuthority(asks);
      const { directory, ownFile, root } = authority;
      await using platform = await init({ directory, ca: ownFile, https, http });
      expect(await platform.up()).not.toContain('no certificate');
      const reached = await ask({ host, path: '/mcp', method: 'POST', port: https, ca: root });
      const metadata = `https://${host}:${https}/.well-known/oauth-protected-resource/mcp`;
      const challenge = `Bearer resource_metadata="${metadata}", scope="tools"`;
      expect([reached.status, reached.headers['www-authenticate']]).toEqual([401, challenge]);
      const plain = await ask({ host, path: '/mcp', port: http, ca: null });
      expect([plain.status, plain.headers.location]).toEqual([308, `https://${host}:${https}/mcp`]);
      expect((await platform.svc('status')).urls.mcp).toBe(`https://${host}:${https}/mcp`);
      expect(openIn(join(platform.installation.dataDir, 'caddy'))).toEqual([]);
      const serial = await serialAt(https);
      await platform.svc('down');
      await platform.svc('up');
      expect(await serialAt(https)).toBe(serial);
    },
  );

  test.concurrent('where it gives no certificate, that is reported, and the platform runs', async () => {
    const [https = 0, http = 0, nobodys = 0] = await freePorts(3);
    await using authority = await startAuthority({ httpPort: nobodys, tlsPort: nobodys });
    const { directory, ownFile } = authority;
    await using platform = await init({ directory, ca: ownFile, https, http });
    expect((await platform.up()).replace(/\s+/g, ' ')).toContain(`There is no certificate for ${host} yet.`);
    expect((await platform.svc('status')).state).toBe('running');
    const caddy = (await platform.services()).get('caddy');
    expect(caddy).toMatchObject({ health: 'yellow', reason: expect.stringContaining('svc logs') });
    const { lines } = await platform.svc('logs', 'caddy');
    expect(JSON.stringify(lines)).toContain('challenge failed');
  });
});

type Ports = Readonly<Record<'https' | 'http', number>>;

/**
 * Paths in the folder that other users may open, except Caddy's lock files: Caddy leaves them open, and they hold no
 * secret.
 */
function openIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !/^locks\/./.test(name));
  expect(entries.filter((name) => name.endsWith('.key'))).not.toEqual([]);
  return ['.', ...entries].filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
}

async function serialAt(port: number): Promise<string> {
  return (await certificateAt(port, host)).serialNumber;
}
