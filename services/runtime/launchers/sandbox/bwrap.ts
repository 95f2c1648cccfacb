import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reason } from '../../../contracts/bus/messages.ts';
import { bwrapNamespaces, noBwrap } from '../../../contracts/sandbox.ts';
import { type ChildEnvironmentOptions, childEnvironment } from '../child-environment.ts';
import { explainSpawnCode } from '../explain-exit.ts';
import { markVariable } from '../processes.ts';
import type { ChildOrder, SpawnChild, Spawned } from '../spawn-child.ts';
import { createExplainer, unavailable } from './explain-sandboxed.ts';
import { authorityPaths, commandPaths, neverWritable, programPaths, systemPaths } from './machine-paths.ts';
import { seccompFilter } from './seccomp.ts';
import { findReal, isWithin, View } from './view.ts';

export interface SandboxOptions {
  /** Homes of all MCP servers are in it: each sees its own. */
  readonly workingDir: string;
  /** The platform's own, which nothing inside ever sees. */
  readonly hiddenPaths: readonly string[];
  /** What everything inside may read. */
  readonly allowedPaths: readonly string[];
}

/** Behind bubblewrap: in namespaces of its own, where nothing is but what it needs, its home and what a person named for it. */
export function createSpawnInSandbox(options: SandboxOptions): SpawnChild {
  return async (order) => {
    const filter = seccompFilter(process.arch);
    if (filter === null) return { ok: false, reason: unavailable(unknownArchitecture) };
    const view = await viewOf(order, options);
    const cwd = await findReal(order.cwd);
    if (cwd === null || !(await view.shows(cwd))) return { ok: false, reason: folderRefused(order.cwd) };
    const env = Object.entries(childEnvironment(await visiblePart(order.environment, view)));
    const settings = env.flatMap(([name, value]) => ['--setenv', name, value]);
    const wiring = ['--seccomp', String(fd.filter), '--json-status-fd', String(fd.status)];
    const args = [...bwrapNamespaces, ...wiring, ...(await view.toArguments()), '--chdir', cwd, ...settings];
    return await start(order, args, filter);
  };
}

const unknownArchitecture = {
  what: `its filter of system calls is not known for ${process.arch}`,
  repair: 'Run the runtime on a machine of x64 or arm64.',
};

/** Where bwrap finds what it is told. Values of variables are secrets, which an argument would show to everybody on the machine. */
const fd = { arguments: 3, filter: 4, status: 5 } as const;

async function start(order: ChildOrder, told: readonly string[], filter: Buffer): Promise<Spawned> {
  const { command, args, environment } = order;
  const { inherited, mark } = environment;
  try {
    const child = spawn('bwrap', ['--args', String(fd.arguments), '--', command, ...args], {
      cwd: '/',
      // What the MCP server is given is none of bwrap's: a library to preload would run outside.
      env: { PATH: inherited.PATH, [markVariable]: mark },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      shell: false,
    });
    await once(child, 'spawn');
    if (!hasPipes(child)) throw new Error('bwrap was started without pipes');
    tell(child, fd.arguments, told.map((one) => `${one}\0`).join(''));
    tell(child, fd.filter, filter);
    const explain = createExplainer(command, readStatus(child));
    return { ok: true, child: { process: child, isHolder: true, explain } };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { ok: false, reason: code === 'ENOENT' ? unavailable(noBwrap) : explainSpawnCode(command, code) };
  }
}

function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return child.stdin !== null && child.stdout !== null && child.stderr !== null;
}

function tell(child: ChildProcess, place: number, what: string | Buffer): void {
  // It may have ended already, of which its exit tells.
  pipeOf(child, place)
    .on('error', () => {})
    .resume()
    .end(what);
}

const statusMaxChars = 4096;

/** Returns what bwrap has said of itself until now, line by line JSON. */
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

async function viewOf({ command, cwd, environment }: ChildOrder, options: SandboxOptions): Promise<View> {
  const { inherited, place } = environment;
  const view = await View.without([...options.hiddenPaths, options.workingDir]);
  for (const one of systemPaths) await view.show(one, 'read');
  for (const one of await programPaths(inherited.PATH ?? '')) await view.show(one, 'read');
  for (const one of await programPaths(path.dirname(process.execPath))) await view.show(one, 'read');
  for (const one of authorityPaths(inherited)) await view.show(one, 'read');
  for (const folder of [place.home, place.temporary]) await view.open(folder);
  if (await mayBeWritten(cwd)) await view.show(cwd, 'write');
  const named = await commandPaths(command, environment.own.PATH ?? inherited.PATH ?? '', cwd);
  for (const one of named) await view.show(one, 'read');
  for (const one of options.allowedPaths) await view.show(one, 'read');
  await view.guard(ownPackage);
  return view;
}

/** Who may write there could change what runs outside. */
const ownPackage = path.dirname(fileURLToPath(new URL('../../../../package.json', import.meta.url)));

async function mayBeWritten(folder: string): Promise<boolean> {
  const real = await findReal(folder);
  if (real === null) return false;
  const system = await Promise.all(neverWritable.map(findReal));
  return !system.some((one) => one !== null && (isWithin(real, one) || isWithin(one, real)));
}

/** A variable of the runtime that names a path which is not there inside, such as npm's cache, would only mislead. */
async function visiblePart(environment: ChildEnvironmentOptions, view: View): Promise<ChildEnvironmentOptions> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment.inherited)) {
    const isPath = name !== 'PATH' && path.isAbsolute(value) && !value.includes(':');
    if (!isPath || (await view.shows(value))) kept[name] = value;
  }
  return { ...environment, inherited: kept };
}

function folderRefused(folder: string): Reason {
  return {
    code: 'folder_refused',
    message: `The working directory "${folder}" may not be shown to a sandboxed MCP server: it is the system's, the platform's or another MCP server's.`,
    repair: 'Give the MCP server a folder of its own as cwd, or none: then it works in its home.',
  };
}
