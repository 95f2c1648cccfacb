import { SvcError } from '../../services/contracts/errors.ts';
import type { Survey } from '../engines/engine.ts';
import { LostPort } from '../engines/lost-port.ts';
import { portWishesOf } from '../engines/plan-of.ts';
import { isFree } from '../machine/is-free.ts';
import { describeHolder } from '../machine/port-holder.ts';
import type { Plan } from '../plan/plan.ts';

/**
 * Throws `LostPort` where another program took a port after the plan was made. That program would answer in the place of the part, and the
 * part would look healthy.
 */
export async function refuseLostPorts({ definition, ports }: Plan, survey: Survey): Promise<void> {
  for (const { name, host, place, beside = [] } of portWishesOf(definition)) {
    const first = ports[name];
    if (first === undefined) continue;
    for (const port of [0, ...beside].map((distance) => first + distance)) {
      if (survey.ownsPort(port) || (await isFree(host, port, survey.portPatienceMs))) continue;
      throw new LostPort(
        new SvcError('conflict', `Port ${port} of ${name} is taken by ${describeHolder(port)}.`, {
          hint: `Stop that program, or change ${place} in svc.yaml (auto takes the next free one).`,
        }),
      );
    }
  }
}
