import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import Docker from 'dockerode';
import { afterEach, expect, test, vi } from 'vitest';
import { ask } from '../../../parts/test/ask.ts';
import { certificateAt } from '../../../parts/test/certificate-at.ts';
import { issueCertificate, makeCertificate } from '../../../runtime-elsewhere/test/certificate.ts';
import { connectAgent } from '../../../test/agent.ts';
import { hasPebble, startAuthority } from '../../../test/authority.ts';
import { freePorts } from '../../../test/free-ports.ts';
import { publicSettings } from '../../../test/public-settings.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 400_000 });

const known = getCACertificates('default');
afterEach(() => setDefaultCACertificates(known));

test.skipIf(dockerHost === null)(
  'one host name on a real Docker has the certificate of files, and everything is under it',
  async () => {
    const [https = 0, http = 0] = await freePorts(2);
    const files = { tls: 'files', cert: 'secrets/public.pem', key: 'secrets/public.key' };
    const settings = publicSettings({ host: 'localhost', ...files, httpsPort: https, httpPort: http });
    await using trial = await DockerTrial.init({ settings });
    const { platform } = trial;
    makeCertificate(platform.folder, 'ca');
    const useCertificate = async (name: string) => {
      issueCertificate(platform.folder, name, { names: 'DNS:localhost', by: 'ca' });
      const { secretsDir } = platform.installation;
      for (const kind of ['pem', 'key'])
        await copyFile(join(platform.folder, `${name}.${kind}`), join(secretsDir, `public.${kind}`));
    };
    await useCertificate('first');
    await trial.up();

    const origin = `https://localhost:${https}`;
    expect(await trial.published()).toEqual([
      ['backend', '3000/tcp', '127.0.0.1', platform.ports.backend],
      ['caddy', '8080/tcp', '127.0.0.1', http],
      ['caddy', '8443/tcp', '127.0.0.1', https],
    ]);
    const ca = await readFile(join(platform.folder, 'ca.pem'), 'utf8');
    setDefaultCACertificates([...known, ca]);
    expect(await (await fetch(origin)).text()).toContain(`"PUBLIC_BACKEND_URL":"${origin}"`);
    expect((await fetch(`${origin}/ready`)).status).toBe(200);
    const plain = await ask({ host: 'localhost', path: '/mcp', port: http, ca: null });
    expect([plain.status, plain.headers.location]).toEqual([308, `${origin}/mcp`]);
    const skill = await trial.addEcho();
    const agent = await connectAgent(`${origin}/mcp?skillIds=${skill}`, await platform.addKey('agent'));
    await trial.works(agent, 'over https');

    const before = await trial.ids();
    await useCertificate('second');
    await trial.up();
    expect(await trial.changedSince(before)).toEqual(['caddy']);
    expect((await certificateAt(https, 'localhost')).subject.CN).toBe('second');
    await trial.works(agent, 'renewed');
    const search = trial.secretSearch();
    const value = (await readFile(join(platform.folder, 'second.key'))).subarray(40, 90);
    search.seek({ name: 'the certificate', value });
    expect(await trial.secretsInDocker(search)).toEqual([]);
    await agent.client.close();
  },
);

/** The address of this machine on Docker's own bridge, where containers reach it. */
async function bridgeAddress(): Promise<string> {
  const socketPath = (dockerHost ?? '').slice('unix://'.length);
  const bridge = await new Docker({ socketPath, host: undefined, protocol: 'http' }).getNetwork('bridge').inspect();
  // A daemon that has just created the network reports no gateway. The gateway is the first address of the network.
  const { Subnet, Gateway = Subnet?.replace(/\d+\/\d+$/, '1') } = bridge.IPAM?.Config?.[0] ?? {};
  return Gateway ?? expect.fail('Docker has no bridge of its own');
}

const canIssue = dockerHost !== null && hasPebble;
test.skipIf(!canIssue)(
  'one host name with an authority, on a real Docker, gets a certificate that outlives the containers',
  async () => {
    const host = 'agents.example.com';
    const [https = 0, http = 0, nobodys = 0] = await freePorts(3);
    await using authority = await startAuthority({ httpPort: nobodys, tlsPort: https }, await bridgeAddress());
    const acme = { 'acme.directory': authority.directory, 'acme.ca': authority.ownFile };
    const settings = publicSettings({ host, tls: 'acme', ...acme, httpsPort: https, httpPort: http });
    await using trial = await DockerTrial.init({ settings });
    expect(await trial.up()).not.toContain('no certificate');
    const reached = await ask({ host, path: '/mcp', method: 'POST', port: https, ca: authority.root });
    const metadata = `https://${host}:${https}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}", scope="tools"`;
    expect([reached.status, reached.headers['www-authenticate']]).toEqual([401, challenge]);
    const { serialNumber } = await certificateAt(https, host);
    await trial.platform.svc('down');
    await trial.up();
    expect((await certificateAt(https, host)).serialNumber).toBe(serialNumber);
  },
);
