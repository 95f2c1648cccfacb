import { delimiter } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { checkProgram } from '../../machine/check-program.ts';
import { findProgram } from '../../machine/find-program.ts';
import { listenProblem } from '../../machine/is-free.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import { type Ports, wishesOf } from '../../settings/ports.ts';
import { checkSandbox } from '../sandbox/check-sandbox.ts';

/** Refuses missing and too old programs, all at once, and then ports. Returns what the operator should know about the programs. */
export async function checkPrograms(plan: Plan, path: string | undefined): Promise<readonly string[]> {
  const { definition, parts, ports } = plan;
  const programs = parts.flatMap(({ program }) => (program.kind === 'foreign' ? [program] : []));
  const needed = new Map(programs.map((program) => [program.command, program]));
  const checks = [...needed.values()].map((program) => checkProgram(program, path));
  checks.push(checkSandbox(definition, path));
  const outcomes = await Promise.allSettled(checks);
  const refused = outcomes.flatMap((outcome): unknown[] => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (refused.length > 1 && refused.every((one) => one instanceof SvcError)) {
    const hint = refused.flatMap((one) => one.hint ?? []).join('\n');
    const code = refused[0]?.code ?? 'unavailable';
    throw new SvcError(code, refused.map(({ message }) => message).join('\n'), { hint });
  }
  const notices = (await Promise.all(checks)).flat();
  await checkFrontPorts(definition, ports, path);
  return notices;
}

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
