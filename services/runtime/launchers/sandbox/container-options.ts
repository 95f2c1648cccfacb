import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import { markVariable } from '../processes.ts';
import { machineInProc } from './machine-paths.ts';
import { entry, groupSignals } from './told-inside.ts';
import { isWithin, type Link, type Mount } from './view.ts';

export interface ContainerTraits {
  /** Whose it is, for people who look at what Docker runs. */
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

/** Known before it is made: what a killed runtime left behind is found by it. */
export function nameOf(mark: string): string {
  return `svc-mcp-server-${mark}`;
}

/** Enough for a program with its helpers, and for no storm of processes. */
const processesMax = 512;
const temporaryMaxMb = 256;

/**
 * One container, as an exact object of Docker's interface. Whoever may ask Docker reads it: nothing of the MCP server's definition stands in it
 * but its name and its working directory.
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
    // Its input ends with whoever was attached to it: that of a runtime that was killed, too.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      // Nothing of it stays, whoever ends it.
      AutoRemove: true,
      // What it says are answers to agents: Docker keeps none of them.
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

/** A container can't be given links, so that what a link leads to is there twice; not where something in it must stay hidden. */
function linkMount({ at, to, how }: Link, mounts: readonly Mount[]): readonly MountSettings[] {
  const hides = mounts.some((mount) => mount.how.startsWith('empty') && isWithin(mount.at, to));
  return hides ? [] : [bind(to, at, how)];
}

function bind(source: string, target: string, how: 'read' | 'write'): MountSettings {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: how === 'read' };
}
