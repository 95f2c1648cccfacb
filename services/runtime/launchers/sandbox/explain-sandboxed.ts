import { accessSync } from 'node:fs';
import { constants } from 'node:os';
import type { Reason } from '../../../contracts/bus/messages.ts';
import { type Author, explainBwrap, type Obstacle } from '../../../contracts/sandbox.ts';
import type { Exit } from '../exit-causes.ts';
import { explainExit, explainSpawnCode } from '../explain-exit.ts';
import type { ChildOrder } from '../spawn-child.ts';

export type OrderOrigin = Pick<ChildOrder, 'name' | 'setBy'>;

/** A sandbox could not be created, and without one nothing runs. */
export function unavailable({ what, repair }: Obstacle, { name, setBy }: OrderOrigin): Reason {
  return {
    code: 'sandbox_unavailable',
    message: `"${name}" was not started: it needs a sandbox, which could not be created: ${what}.${wordsFor[setBy].author}`,
    repair: `${repair} ${wordsFor[setBy].instead}`,
  };
}

const wordsFor = {
  operator: {
    author: '',
    instead:
      "The operator can also run it without one: runtime.sandbox: auto in svc.yaml (MCP_SERVER_SANDBOX) confines only members' commands.",
  },
  member: {
    author: ' A member of the workspace set its command.',
    instead:
      "An operator can run members' commands without a sandbox, by runtime.sandbox: none-for-everybody in svc.yaml (MCP_SERVER_SANDBOX), or set the command: svc apply",
  },
} as const satisfies Record<Author, { author: string; instead: string }>;

/**
 * Distinguishes the end of the command from the end of bwrap: bwrap's status output says whether the command ever ran. Its
 * exit code is the command's; above 128 it stands for a signal.
 */
export function createExplainer(
  order: OrderOrigin & Pick<ChildOrder, 'command'>,
  status: () => string,
): (exit: Exit) => Reason {
  const { command } = order;
  return (exit) => {
    if (exit.signal !== null) return explainExit(exit);
    if (status().includes('"exit-code"')) return withSandboxInMind(explainExit(asItself(exit)), howToShow);
    const words = exit.stderr.join('\n');
    const notRun = /^bwrap: execvp (?:.*: (.+)|.*)$/m.exec(words);
    if (notRun === null) return unavailable(explainBwrap(words), order);
    // bwrap cuts its line after a long command, so the system's reason may be missing.
    const failure = notRun[1] ?? 'unknown';
    const code = execErrors[failure] ?? failure;
    return code === 'ENOENT' && isThere(command) ? notShown(command) : explainSpawnCode(command, code);
  };
}

/** In the C library's words. */
const execErrors: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Operation not permitted': 'EPERM',
  'Exec format error': 'ENOEXEC',
  'Not a directory': 'ENOTDIR',
  'Argument list too long': 'E2BIG',
  'Cannot allocate memory': 'ENOMEM',
};

/** A code above 128 represents the signal that ended it. */
export function asItself(exit: Exit): Exit {
  const number = (exit.code ?? 0) - 128;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? exit : { ...exit, code: null, signal };
}

function isThere(command: string): boolean {
  if (!command.startsWith('/')) return false;
  try {
    accessSync(command);
    return true;
  } catch {
    return false;
  }
}

function notShown(command: string): Reason {
  return {
    code: 'not_in_sandbox',
    message: `Could not start "${command}": it exists, but the sandbox of MCP servers does not show it, or a file it needs.`,
    repair: howToShow,
  };
}

const howToShow =
  'It sees its cwd, and to read the paths in runtime.allowedPaths (SVC_ALLOWED_PATHS) and the PATH of the runtime: add its folder to one of them.';

/** A file that exists outside and not inside looks like a wrong path. */
const mayBeUnseen: ReadonlySet<string> = new Set(['file_not_found', 'module_not_found', 'permission_denied']);

export function withSandboxInMind(reason: Reason, howToShow: string): Reason {
  return mayBeUnseen.has(reason.code)
    ? { ...reason, repair: `${reason.repair} It is sandboxed. ${howToShow}` }
    : reason;
}
