import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import path from 'node:path';
import { bwrapNamespaces, noBwrap } from '../../../contracts/sandbox.ts';
import { childEnvironment } from '../child-environment.ts';
import { explainSpawnCode } from '../explain-exit.ts';
import { type Look, markVariable } from '../processes.ts';
import { programOf } from '../program.ts';
import type { ChildOrder, SpawnChild, SpawnResult } from '../spawn-child.ts';
import { createExplainer, unavailable } from './explain-sandboxed.ts';
import { commandPaths, machineInProc, programPaths, systemPaths } from './machine-paths.ts';
import { type MachinePrograms, viewFor, visibleEnvironment } from './mcp-server-view.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { seccompFilter } from './seccomp.ts';
import type { Mount, View } from './view.ts';
import { findWorkingFolder } from './working-folder.ts';

/**
 * Runs behind bubblewrap in separate namespaces, with only its requirements, its home and paths that the operator
 * allowed.
 */
export function createSpawnInBwrap(options: SandboxOptions, look: Look): SpawnChild {
  return async (order) => {
    const filter = seccompFilter(process.arch);
    if (filter === null) return { ok: false, reason: unavailable(unknownArchitecture, order) };
    const folder = await findWorkingFolder(order, options);
    if (!folder.ok) return folder;
    const view = await viewFor(order, options, folder, await programsFor(order));
    const env = Object.entries(childEnvironment(await visibleEnvironment(order.environment, view)));
    const settings = env.flatMap(([name, value]) => ['--setenv', name, value]);
    const wiring = ['--seccomp', String(fd.filter), '--json-status-fd', String(fd.status)];
    const args = [...bwrapNamespaces, ...wiring, ...(await viewArguments(view)), '--chdir', folder.cwd, ...settings];
    return await start(order, args, filter, look);
  };
}

/** The mounts of a view, as arguments of bwrap. */
async function viewArguments(view: View): Promise<readonly string[]> {
  const mounts = await view.mounts();
  const links = (await view.links()).flatMap(({ at, to }) => ['--symlink', to, at]);
  // A mount needs a writable parent, so folders are closed after all mounts.
  const closed = [...mounts.filter(({ how }) => how === 'empty folder').map(({ at }) => at), '/'];
  return [
    ...mounts.flatMap(({ at, how }) => words[how](at)),
    ...links,
    ...closed.flatMap((one) => ['--remount-ro', one]),
  ];
}

const words: { readonly [How in Mount['how']]: (at: string) => readonly string[] } = {
  read: (at) => ['--ro-bind', at, at],
  write: (at) => ['--bind', at, at],
  'empty folder': (at) => ['--tmpfs', at],
  'empty file': (at) => ['--ro-bind', '/dev/null', at],
  proc: (at) => ['--proc', at],
  dev: (at) => ['--dev', at],
  tmp: (at) => ['--tmpfs', at],
};

const unknownArchitecture = {
  what: `its filter of system calls is not known for ${process.arch}`,
  repair: 'Run the runtime on a machine of x64 or arm64.',
};

/** Descriptors for bwrap. Values of variables are secrets, and every user of the machine can read arguments. */
const fd = { arguments: 3, filter: 4, status: 5 } as const;

async function start(order: ChildOrder, told: readonly string[], filter: Buffer, look: Look): Promise<SpawnResult> {
  const { command, args, environment } = order;
  const { inherited, mark } = environment;
  try {
    const child = spawn('bwrap', ['--args', String(fd.arguments), '--', command, ...args], {
      cwd: '/',
      // bwrap gets none of the MCP server's variables: a preloaded library would run outside.
      env: { PATH: inherited.PATH, [markVariable]: mark },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      shell: false,
    });
    await once(child, 'spawn');
    if (!hasPipes(child)) throw new Error('bwrap was started without pipes');
    tell(child, fd.arguments, told.map((one) => `${one}\0`).join(''));
    tell(child, fd.filter, filter);
    const explain = createExplainer(order, readStatus(child));
    return { ok: true, program: programOf(child, { mark, isHolder: true, look, explain }) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { ok: false, reason: code === 'ENOENT' ? unavailable(noBwrap, order) : explainSpawnCode(command, code) };
  }
}

function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return child.stdin !== null && child.stdout !== null && child.stderr !== null;
}

function tell(child: ChildProcess, place: number, what: string | Buffer): void {
  // It may have ended already; its exit explains why.
  pipeOf(child, place)
    .on('error', () => {})
    .resume()
    .end(what);
}

const statusMaxChars = 4096;

/** Returns bwrap's status output so far, one JSON object a line. */
function readStatus(child: ChildProcess): () => string {
  let said = '';
  pipeOf(child, fd.status)
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(0, statusMaxChars);
    });
  return () => said;
}

function pipeOf(child: ChildProcess, place: number): Socket {
  const pipes: readonly unknown[] = child.stdio;
  const pipe = pipes[place];
  if (!(pipe instanceof Socket)) throw new Error(`bwrap was started without a pipe ${place}`);
  return pipe;
}

/** The sandbox contains no programs and uses those of the machine. */
async function programsFor({ command, cwd, environment, setBy }: ChildOrder): Promise<MachinePrograms> {
  const { inherited, own } = environment;
  const searched = [inherited.PATH ?? '', path.dirname(process.execPath)];
  // A member's path of a command must not open another part of the machine: for members, the PATH of the runtime
  // decides.
  const isChosen = setBy === 'member' && command.includes('/');
  const searchPath = (setBy === 'member' ? undefined : own.PATH) ?? inherited.PATH ?? '';
  return {
    all: [...systemPaths, ...machineInProc, ...(await Promise.all(searched.map(programPaths))).flat()],
    ofCommand: isChosen ? [] : await commandPaths(command, searchPath, cwd),
  };
}
