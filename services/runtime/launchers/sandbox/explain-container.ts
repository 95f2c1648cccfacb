import type { Reason } from '../../../contracts/bus/messages.ts';
import { explainDocker, statusOf } from '../../../contracts/docker.ts';
import type { Exit } from '../exit-causes.ts';
import { explainExit } from '../explain-exit.ts';
import { asItself, type OrderOrigin, unavailable, withSandboxInMind } from './explain-sandboxed.ts';

export interface ContainerPlace {
  readonly socket: string;
  readonly image: string;
}

/** Why an MCP server has no container to run in. */
export function explainNoContainer(error: unknown, { socket, image }: ContainerPlace, whose: OrderOrigin): Reason {
  if (statusOf(error) === 404) {
    const obstacle = {
      what: `the Docker at "${socket}" has no image "${image}"`,
      repair: `Fetch it on the machine of the runtime: docker pull ${image}. If images.base in svc.yaml names it, svc up fetches it.`,
    };
    return unavailable(obstacle, whose);
  }
  return unavailable(explainDocker(error, `"${socket}"`), whose);
}

/** Docker itself ended before the container's end was known. */
export function explainLost(error: unknown, { socket }: ContainerPlace): Reason {
  const { what, repair } = explainDocker(error, `"${socket}"`);
  return {
    code: 'container_lost',
    message: `Its container ended with the Docker that ran it, or is not reachable: ${what}.`,
    repair: `${repair} The MCP server restarts when Docker answers.`,
  };
}

/** Explains an end inside a container, where programs come from the image. */
export function explainInContainer(exit: Exit, { image }: ContainerPlace): Reason {
  const reason = explainExit(asItself(exit));
  if (reason.code !== 'command_not_found') return withSandboxInMind(reason, howToShow(image));
  return {
    ...reason,
    message: `Could not start "${exit.command}": the image "${image}" has no such command.`,
    repair: `Name another command, or an image that contains it: images.base in svc.yaml (MCP_SERVER_IMAGE).`,
  };
}

function howToShow(image: string): string {
  return `It sees its cwd, the paths in runtime.allowedPaths (SVC_ALLOWED_PATHS) to read, and the image "${image}", but no programs of the machine.`;
}
