import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../runtime-elsewhere/test/certificate.ts';
import { checkDefinition } from '../../settings/check.ts';
import { freePorts } from '../../test/free-ports.ts';
import { startCaddy } from './running-caddy.ts';
import { type Answer, Upstream } from './upstream.ts';

const services = ['remote-mcp', 'backend', 'frontend'] as const;
type Service = (typeof services)[number];

export const host = 'agents.example.com';

/** The proxy of everything under one host name, in front of stand-ins with given answers. */
export async function openOneHost(tls: 'none' | 'files', answer: (service: Service) => Answer) {
  const [httpPort = 0, httpsPort = 0, ...ports] = await freePorts(5);
  const behind = new Map(services.map((service, index) => [service, new Upstream(ports[index] ?? 0, answer(service))]));
  await Promise.all([...behind.values()].map((upstream) => upstream.open()));
  const get = (service: Service) => behind.get(service) ?? never();
  const hostOf = (service: Service) => [`127.0.0.1:${get(service).port}`];
  const files = tls === 'files' ? 'cert: own.pem, key: own.key, ' : '';
  const yaml = `id: abcdef0123456789\ntopology: distributed\npublic: { host: ${host}, tls: ${tls}, ${files}}`;
  const port = tls === 'none' ? httpPort : httpsPort;
  const origin = `http${tls === 'none' ? '' : 's'}://${host}:${port}`;
  const caddy = await startCaddy(
    {
      bind: '127.0.0.1',
      upstreams: { 'remote-mcp': hostOf('remote-mcp'), backend: hostOf('backend'), frontend: hostOf('frontend') },
      shared: { bind: '127.0.0.1', ports: {} },
      storage: 'data/caddy',
      oneHost: { public: checkDefinition(yaml, 'svc.yaml').public, httpPort, httpsPort, origin },
    },
    (folder) => makeCertificate(folder, 'own', `DNS:${host}`),
  );
  return {
    origin,
    httpPort,
    httpsPort,
    /** The self-signed certificate. */
    ca: readFileSync(join(caddy.folder, 'own.pem'), 'utf8'),
    get,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]();
      await Promise.all([...behind.values()].map((upstream) => upstream.close()));
    },
  };
}

function never(): never {
  throw new Error('this service has no stand-in');
}
