import type { Definition } from './definition.ts';
import { hasOneHost } from './front-of.ts';
import { isLoopback } from './public-bus.ts';

/** Notices about an unusual configuration of the proxy. */
export function frontNotices(definition: Definition): readonly string[] {
  const {
    bind,
    public: { host = '', tls },
  } = definition;
  // Without TLS another proxy on this machine is expected in front.
  if (!hasOneHost(definition) || tls === 'none') return [];
  if (!isLoopback(bind) || isLoopback(host)) return [];
  return [
    `https://${host} is reachable from this machine only: caddy listens on ${bind}. Set bind: 0.0.0.0 in svc.yaml, unless another program forwards to it.`,
  ];
}
