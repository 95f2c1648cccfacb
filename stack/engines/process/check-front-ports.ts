import { delimiter } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { findProgram } from '../../machine/find-program.ts';
import { listenProblem } from '../../machine/listen-problem.ts';
import type { Definition } from '../../settings/definition.ts';
import { type Ports, wishesOf } from '../../settings/ports.ts';

/** Refuses privileged ports that Caddy may not listen on, before anything starts. */
export async function checkFrontPorts(definition: Definition, ports: Ports, path: string | undefined): Promise<void> {
  const own = wishesOf(definition).filter(({ part }) => part === 'caddy');
  for (const { name, host, place } of own) {
    const port = ports[name] ?? 0;
    if ((await listenProblem(host, port))?.code !== 'EACCES') continue;
    const caddy = findProgram('caddy', path) ?? 'caddy';
    if (await hasRight(caddy, path)) continue;
    throw new SvcError(
      'forbidden',
      `Port ${port} (${place} in svc.yaml) is privileged: this user may not listen on it.`,
      {
        hint: `Allow Caddy to use it: sudo setcap cap_net_bind_service=+ep "${caddy}". Or set a port above 1023, forward port ${port} to it, and set publicUrls to the addresses that people use.`,
      },
    );
  }
}

const askTimeoutMs = 5000;

/** capabilities(7), "File capabilities": a program may have rights that its user does not have. */
async function hasRight(program: string, path = ''): Promise<boolean> {
  // Its folder is on root's path only.
  const getcap = findProgram('getcap', [path, '/usr/sbin', '/sbin'].join(delimiter));
  if (getcap === null) return false;
  const { failed, stdout } = await askProgram(getcap, [program], { timeoutMs: askTimeoutMs });
  return !failed && /cap_net_bind_service[^ ]*[+=][a-z]*e/.test(stdout);
}
