import { SvcError } from '../../../services/contracts/errors.ts';
import type { ContainersRecord } from '../../state/containers-record.ts';
import type { Daemon } from './daemon.ts';

/** Another daemon has none of the data of this platform. */
export function refuseOtherDaemon(before: ContainersRecord | null, { id, socket }: Daemon): void {
  if (before === null || before.daemon.id === id) return;
  throw new SvcError(
    'conflict',
    `The containers and data of this platform are in the Docker at "${before.daemon.socket}", not in the one at "${socket}".`,
    {
      hint: `Use that one: DOCKER_HOST=unix://${before.daemon.socket}`,
    },
  );
}
