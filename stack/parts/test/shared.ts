import type { SharedService } from '../../settings/definition.ts';
import { freePorts } from '../../test/free-ports.ts';
import { startCaddy } from './running-caddy.ts';
import { type Answer, Upstream } from './upstream.ts';

/** The proxy in front of two processes of a service, remote-mcp by default. */
export async function openFront(
  answer: (name: 'one' | 'other') => Answer,
  { on, service = 'remote-mcp' }: { readonly on?: number; readonly service?: SharedService } = {},
) {
  const [free = 0, first = 0, second = 0] = await freePorts(3);
  const port = on ?? free;
  const one = new Upstream(first, answer('one'));
  const other = new Upstream(second, answer('other'));
  await Promise.all([one.open(), other.open()]);
  const nobody = { 'remote-mcp': [], backend: [], frontend: [] };
  const upstreams = { ...nobody, [service]: [`127.0.0.1:${first}`, `127.0.0.1:${second}`] };
  const shared = { bind: '127.0.0.1', ports: { [service]: port } };
  const caddy = await startCaddy({ bind: '127.0.0.1', upstreams, shared, storage: 'data/caddy', oneHost: null });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]();
      await Promise.all([one.close(), other.close()]);
    },
  };
}
