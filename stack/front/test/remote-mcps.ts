import { freePorts } from '../../test/free-ports.ts';
import { startCaddy } from './running-caddy.ts';
import { type Answer, Upstream } from './upstream.ts';

/** The front of two remote-mcps. */
export async function openFront(answer: (name: 'one' | 'other') => Answer, on?: number) {
  const [free = 0, first = 0, second = 0] = await freePorts(3);
  const port = on ?? free;
  const one = new Upstream(first, answer('one'));
  const other = new Upstream(second, answer('other'));
  await Promise.all([one.open(), other.open()]);
  const remoteMcps = [`127.0.0.1:${first}`, `127.0.0.1:${second}`];
  const upstreams = { 'remote-mcp': remoteMcps, backend: [], frontend: [] };
  const caddy = await startCaddy({
    bind: '127.0.0.1',
    httpPort: port,
    upstreams,
    storage: 'data/caddy',
    oneHost: null,
  });
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
