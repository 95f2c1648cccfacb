import { type ErrorCode, SvcError } from './errors.ts';
import { inWords } from './system-words.ts';

/** What keeps a Docker from being asked, and what mends it. */
export interface DockerObstacle {
  readonly code: ErrorCode;
  /** A sentence without its full stop. */
  readonly what: string;
  readonly repair: string;
}

export const startDocker =
  'Start it: sudo systemctl start docker (rootless: systemctl --user start docker; on macOS: open -a Docker, or colima start).';
const look = 'Look at how it is: docker info.';

/** From the error that asking it at this socket ended with. */
export function explainDocker(error: unknown, socket: string): DockerObstacle {
  if (isDiskFull(error))
    return { code: 'unavailable', what: `the disk of Docker at ${socket} is full`, repair: makeRoom };
  switch (error instanceof Error && 'code' in error ? error.code : null) {
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'forbidden',
        what: `Docker does not let you in at its socket ${socket}`,
        repair:
          'Join its group and log in again: sudo usermod -aG docker "$USER" (its members can become root), or run Docker rootless.',
      };
    case 'ENOENT':
      return { code: 'unavailable', what: `Docker does not run: there is no socket ${socket}`, repair: startDocker };
    case 'ECONNREFUSED':
      return {
        code: 'unavailable',
        what: `Docker is stopped: nobody listens on its socket ${socket}`,
        repair: startDocker,
      };
    case 'ETIMEDOUT':
    case 'ABORT_ERR':
      return { code: 'unavailable', what: `Docker did not answer in time on its socket ${socket}`, repair: look };
    default:
      return {
        code: 'unavailable',
        what: `Docker at ${socket} does not answer as it should: ${wordsOf(error)}`,
        repair: look,
      };
  }
}

/** What Docker answered to something that it could not do, where nobody on the way had better words for it. Null for anything else. */
export function dockerRefusal(thrown: unknown): SvcError | null {
  const error = thrown instanceof SvcError && thrown.code === 'internal' ? thrown.cause : thrown;
  if (statusOf(error) === null || !(error instanceof Error) || !saysDocker.test(error.message)) return null;
  const hint = isDiskFull(error) ? makeRoom : look;
  return new SvcError('unavailable', `Docker could not do what was asked of it: ${wordsOf(error)}.`, {
    hint,
    cause: error,
  });
}

/** As dockerode begins what it throws. */
const saysDocker = /^\(HTTP code \d+\) [^-]*- /;

/** Docker keeps images and containers on a disk of its own, or on the machine's. */
export function isDiskFull(error: unknown): boolean {
  return /no space left on device/i.test(wordsOf(error));
}

export const makeRoom = 'Free some space there and try again: docker system df tells what takes it.';

/** What Docker says of an error, without the numbers around it. */
export function wordsOf(error: unknown): string {
  return inWords(error).replace(saysDocker, '').trim().replace(/\.$/, '').slice(0, 500);
}

/** The answer of its interface that an error came with; null where there was none. */
export function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : null;
}

/** How a daemon treats the users of its containers, from `SecurityOptions` of what it says of itself. */
export function usersOf(securityOptions: readonly string[]): 'rootless' | 'remapped' | 'same' {
  if (securityOptions.some((option) => option.startsWith('name=rootless'))) return 'rootless';
  return securityOptions.some((option) => option.startsWith('name=userns')) ? 'remapped' : 'same';
}
