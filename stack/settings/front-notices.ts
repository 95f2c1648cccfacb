import type { Definition } from './definition.ts';
import { hasOneHost } from './front-of.ts';
import { isLoopback } from './public-bus.ts';

/** What the operator should know about a front that is not as most are. */
export function frontNotices(definition: Definition): readonly string[] {
  const {
    bind,
    public: { host = '', tls },
  } = definition;
  // Without TLS something else on this machine is meant to stand before it.
  if (!hasOneHost(definition) || tls === 'none') return [];
  if (!isLoopback(bind) || isLoopback(host)) return [];
  return [
    `Nobody beyond this machine reaches https://${host}: caddy listens on ${bind}. Set bind: 0.0.0.0 in svc.yaml, unless something here passes it on.`,
  ];
}
