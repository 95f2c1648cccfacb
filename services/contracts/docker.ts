import { type ErrorCode, SvcError } from './errors.ts';
import { inWords } from './system-words.ts';

/** Why Docker does not answer, and the repair. */
export interface DockerObstacle {
  readonly code: ErrorCode;
  /** A sentence without its full stop. */
  readonly what: string;
  readonly repair: string;
}

export const startDocker =
  'Start it: sudo systemctl start docker (rootless: systemctl --user start docker; on macOS: open -a Docker, or colima start).';
const look = 'Check its state: docker info.';

/** Explains the error of a request to this socket. */
export function explainDocker(error: unknown, socket: string): DockerObstacle {
  if (isDiskFull(error))
    return { code: 'unavailable', what: `the disk of Docker at ${socket} is full`, repair: makeRoom };
  switch (error instanceof Error && 'code' in error ? error.code : null) {
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'forbidden',
        what: `Docker denies access to its socket ${socket}`,
        repair:
          'Join the docker group and log in again: sudo usermod -aG docker "$USER" (its members can become root), or run Docker rootless.',
      };
    case 'ENOENT':
      return { code: 'unavailable', what: `Docker is not running: there is no socket ${socket}`, repair: startDocker };
    case 'ECONNREFUSED':
      return {
        code: 'unavailable',
        what: `Docker is stopped: its socket ${socket} refuses connections`,
        repair: startDocker,
      };
    case 'ETIMEDOUT':
    case 'ABORT_ERR':
      return { code: 'unavailable', what: `Docker did not answer in time on its socket ${socket}`, repair: look };
    default:
      return {
        code: 'unavailable',
        what: `Docker at ${socket} gives an unexpected answer: ${wordsOf(error)}`,
        repair: look,
      };
  }
}

/** Docker's error for a request that has no better explanation. Null for any other error. */
export function dockerRefusal(thrown: unknown): SvcError | null {
  const error = thrown instanceof SvcError && thrown.code === 'internal' ? thrown.cause : thrown;
  if (statusOf(error) === null || !(error instanceof Error) || !saysDocker.test(error.message)) return null;
  const hint = isDiskFull(error) ? makeRoom : look;
  return new SvcError('unavailable', `Docker refused the request: ${wordsOf(error)}.`, {
    hint,
    cause: error,
  });
}

/** The prefix of errors that dockerode throws. */
const saysDocker = /^\(HTTP code \d+\) [^-]*- /;

/** Docker keeps images and containers on its own disk, or on the machine's. */
export function isDiskFull(error: unknown): boolean {
  return /no space left on device/i.test(wordsOf(error));
}

export const makeRoom = 'Free some space there and try again. Show what uses it: docker system df.';

/** Docker's text of an error, without the numbers around it. */
export function wordsOf(error: unknown): string {
  return inWords(error).replace(saysDocker, '').trim().replace(/\.$/, '').slice(0, 500);
}

/** The HTTP status of an error of Docker's API; null when it has none. */
export function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : null;
}

/** How a daemon maps the users of its containers, from `SecurityOptions` of its info. */
export function usersOf(securityOptions: readonly string[]): 'rootless' | 'remapped' | 'same' {
  if (securityOptions.some((option) => option.startsWith('name=rootless'))) return 'rootless';
  return securityOptions.some((option) => option.startsWith('name=userns')) ? 'remapped' : 'same';
}
