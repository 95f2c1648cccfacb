import { isUp } from '../../engines/engine-of.ts';
import { portWishesOf } from '../../engines/plan-of.ts';
import { isFree } from '../../machine/is-free.ts';
import { describeHolder } from '../../machine/port-holder.ts';
import type { PortWish } from '../../settings/ports.ts';
import { type Found, failed, ok, type Planned, warning } from './finding.ts';

export async function checkPorts({ installation, plan }: Planned): Promise<readonly Found[]> {
  if (isUp(installation)) return [ok('The platform runs and has its ports.')];
  const found = await Promise.all(
    portWishesOf(plan.definition).map((wish) => checkPort(wish, plan.ports[wish.name] ?? wish.usual)),
  );
  const taken = found.filter((one) => one !== null);
  return taken.length > 0 ? taken : [ok('All ports of the platform are free.')];
}

/** A port that svc.yaml sets must be free. Another one moves at the next start. */
async function checkPort({ name, wanted, host, place }: PortWish, port: number): Promise<Found | null> {
  if (await isFree(host, port)) return null;
  const taken = `Port ${port} of ${name} is in use by ${describeHolder(port)}.`;
  if (wanted === 'auto') return warning(taken, 'The next svc up takes another free port.');
  return failed(taken, `Stop that program, or change ${place} in svc.yaml.`);
}
