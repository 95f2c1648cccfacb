import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import { markVariable } from '../processes.ts';
import { entry, groupSignals } from './container-input.ts';
import { machineInProc } from './machine-paths.ts';
import { isWithin, type Link, type Mount } from './view.ts';

export interface ContainerTraits {
  /** The owner's name, for people who list the containers. */
  readonly mcpServer: string;
  readonly mark: string;
  readonly image: string;
  /** `uid:gid`, in the container. */
  readonly user: string;
  readonly cwd: string;
  readonly mounts: readonly Mount[];
  readonly links: readonly Link[];
  readonly memoryMaxMb: number;
}

/** Known before the container is created, so that leftovers of a killed runtime are found by it. */
export function nameOf(mark: string): string {
  return `svc-mcp-server-${mark}`;
}

/** Enough for a program with its helpers, and too little for a fork bomb. */
const processesMax = 512;
const temporaryMaxMb = 256;

/**
 * One container, as an exact object of Docker's API. Every user of Docker can read it, so it contains only the name and
 * the working directory of the MCP server's definition.
 */
export function containerOptions(traits: ContainerTraits): ContainerCreateOptions & { readonly name: string } {
  const { mcpServer, mark, image, user, cwd, mounts, links, memoryMaxMb } = traits;
  const memory = memoryMaxMb * 1024 * 1024;
  return {
    name: nameOf(mark),
    Image: image,
    User: user,
    Hostname: 'mcp-server',
    WorkingDir: cwd,
    Entrypoint: [...entry],
    Cmd: [],
    Env: [`${markVariable}=${mark}`, `${groupSignals}=1`],
    Labels: { 'svc.mcp-server': mcpServer },
    Tty: false,
    OpenStdin: true,
    // Its input closes with the attached runtime, also when that is killed.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      // Docker removes it after any end.
      AutoRemove: true,
      // Its output is answers to agents: Docker must not log it.
      LogConfig: { Type: 'none', Config: {} },
      ReadonlyRootfs: true,
      ReadonlyPaths: [...machineInProc],
      Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,size=${temporaryMaxMb}m,mode=1777` },
      Mounts: [...mounts.flatMap(mountOf), ...links.flatMap((link) => linkMount(link, mounts))],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: processesMax,
      Init: true,
    },
  };
}

function mountOf({ at, how }: Mount): readonly MountSettings[] {
  switch (how) {
    case 'read':
    case 'write':
      return [bind(at, at, how)];
    case 'empty folder':
      return [{ Type: 'tmpfs', Source: '', Target: at, ReadOnly: true, TmpfsOptions: emptyFolder }];
    case 'empty file':
      return [bind('/dev/null', at, 'read')];
    case 'proc':
    case 'dev':
    case 'tmp':
      return []; // Every container has these.
  }
}

const emptyFolder = { SizeBytes: 4096, Mode: 0o555 };

/** A container cannot have links, so a link's target is mounted twice, unless something in it must stay hidden. */
function linkMount({ at, to, how }: Link, mounts: readonly Mount[]): readonly MountSettings[] {
  const hides = mounts.some((mount) => mount.how.startsWith('empty') && isWithin(mount.at, to));
  return hides ? [] : [bind(to, at, how)];
}

function bind(source: string, target: string, how: 'read' | 'write'): MountSettings {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: how === 'read' };
}
