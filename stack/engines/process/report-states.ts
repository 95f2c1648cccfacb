import type { PlatformRecord } from '../../state/platform-record.ts';
import type { ServiceState } from '../../state/transition.ts';

type Services = readonly Pick<PlatformRecord['services'][number], 'name' | 'state'>[];

/** Reports every state that differs from the last one. The result returns whether any did. */
export function reportStates(
  onState: (name: string, state: ServiceState) => void,
  before: Services = [],
): (services: Services) => boolean {
  const reported = new Map(before.map(({ name, state }) => [name, state]));
  return (services) => {
    const changed = services.filter(({ name, state }) => reported.get(name) !== state);
    for (const { name, state } of changed) {
      onState(name, state);
      reported.set(name, state);
    }
    return changed.length > 0;
  };
}
