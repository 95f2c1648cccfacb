import Docker from 'dockerode';
import { z } from 'zod';
import { usersOf } from '../../../contracts/docker.ts';
import { childEnvironment } from '../child-environment.ts';
import type { ChildOrder, SpawnChild } from '../spawn-child.ts';
import { firstInputLine } from './container-input.ts';
import { containerOptions, nameOf } from './container-options.ts';
import { inTime, removeContainer, startContainer } from './container-program.ts';
import { explainInContainer, explainLost, explainNoContainer } from './explain-container.ts';
import { unavailable } from './explain-sandboxed.ts';
import { viewFor, visibleEnvironment } from './mcp-server-view.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import type { View } from './view.ts';
import { findWorkingFolder } from './working-folder.ts';

export interface ContainerSandboxOptions extends SandboxOptions {
  /** Of the Docker that runs the containers. Access to it equals root, so no MCP server sees it. */
  readonly socket: string;
  readonly image: string;
  readonly memoryMaxMb: number;
}

/** Runs in a separate container, which sees only its home and the paths of the machine that the operator allowed. */
export function createSpawnInContainer(options: ContainerSandboxOptions): SpawnChild {
  const docker = dockerAt(options.socket);
  const shown = { ...options, hiddenPaths: [...options.hiddenPaths, options.socket] };
  return async (order) => {
    const folder = await findWorkingFolder(order, shown);
    if (!folder.ok) return folder;
    const { cwd } = folder;
    const view = await viewFor(order, shown, folder);
    try {
      const user = await findUser(docker);
      if (user === null) return { ok: false, reason: unavailable(remapped, order) };
      const { name: mcpServer, environment } = order;
      const { mark } = environment;
      const [mounts, links] = [await view.mounts(), await view.links()];
      const program = await startContainer({
        docker,
        options: containerOptions({ ...options, mcpServer, mark, user, cwd, mounts, links }),
        firstLine: firstInputLine({ ...order, env: await environmentInside(order, view) }),
      });
      const explain = (exit: Parameters<typeof explainInContainer>[0]) =>
        program.lost() === null ? explainInContainer(exit, options) : explainLost(program.lost(), options);
      return { ok: true, program: { ...program, explain } };
    } catch (error) {
      return { ok: false, reason: explainNoContainer(error, options, order) };
    }
  };
}

/** Ends the container that a killed runtime left running under this mark; false when there was none. */
export function endContainer(socket: string, mark: string): Promise<boolean> {
  return removeContainer(dockerAt(socket).getContainer(nameOf(mark)));
}

/** Every option is given, because dockerode reads missing ones from the environment of this process. */
function dockerAt(socket: string): Docker {
  return new Docker({ socketPath: socket, host: undefined, port: undefined, protocol: 'http' });
}

const info = z.object({ SecurityOptions: z.array(z.string()).nullish() });

/** As the runtime's user, who owns its home. In a rootless Docker, root of a container is that user outside. */
async function findUser(docker: Docker): Promise<string | null> {
  const { SecurityOptions } = info.parse(await inTime(docker.info()));
  const users = usersOf(SecurityOptions ?? []);
  if (users === 'remapped') return null;
  return users === 'rootless' ? '0:0' : `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
}

const remapped = {
  what: "this Docker maps its containers' users (userns-remap), who cannot use the homes of MCP servers",
  repair: 'Turn userns-remap off, or run Docker rootless.',
};

/** The image defines the path of its programs. */
async function environmentInside({ environment }: ChildOrder, view: View): Promise<Record<string, string>> {
  const { PATH: _, ...inherited } = (await visibleEnvironment(environment, view)).inherited;
  return childEnvironment({ ...environment, inherited });
}
