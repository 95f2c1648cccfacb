import type { Reason } from '../../../contracts/bus/messages.ts';
import { explainDocker, statusOf } from '../../../contracts/docker.ts';
import { type Exit, explainExit } from '../explain-exit.ts';
import { asItself, unavailable, type Whose, withSandboxInMind } from './explain-sandboxed.ts';

export interface ContainerPlace {
  readonly socket: string;
  readonly image: string;
}

/** Why there is no container to run an MCP server in. */
export function explainNoContainer(error: unknown, { socket, image }: ContainerPlace, whose: Whose): Reason {
  if (statusOf(error) === 404) {
    const obstacle = {
      what: `the Docker at "${socket}" has no image "${image}"`,
      repair: `Fetch it: docker pull ${image}, or with svc up where images.base in svc.yaml names it.`,
    };
    return unavailable(obstacle, whose);
  }
  return unavailable(explainDocker(error, `"${socket}"`), whose);
}

/** Docker itself was gone before the container had told how it ended. */
export function explainLost(error: unknown, { socket }: ContainerPlace): Reason {
  const { what, repair } = explainDocker(error, `"${socket}"`);
  return {
    code: 'container_lost',
    message: `Its container ended with the Docker that ran it, or is out of sight: ${what}.`,
    repair: `${repair} The MCP server is started again when Docker answers.`,
  };
}

/** Why it ended, as far as that is different in a container: its programs are those of an image. */
export function explainInContainer(exit: Exit, { image }: ContainerPlace): Reason {
  const reason = explainExit(asItself(exit));
  if (reason.code !== 'command_not_found') return withSandboxInMind(reason, howToShow(image));
  return {
    ...reason,
    message: `"${exit.command}" could not be started: there is no such command in the image "${image}".`,
    repair: `Name another command, or an image that brings it: images.base in svc.yaml (MCP_SERVER_IMAGE).`,
  };
}

function howToShow(image: string): string {
  return `It sees its cwd, to read what runtime.allowedPaths (SVC_ALLOWED_PATHS) names, and the image "${image}": programs of the machine are not there.`;
}
