import type { Reason } from '../../contracts/bus/messages.ts';
import { shownLine } from '../../contracts/shown-text.ts';

/** How a child ended. */
export interface Exit {
  readonly command: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Its last lines on standard error, without secrets. */
  readonly stderr: readonly string[];
}

/**
 * Explains the end of a child and its likely repair from exit code and stderr. Stderr is not quoted, because it may
 * contain secrets and agents read reasons; it is shown separately to users with the right to see it.
 */
export function explainExit(exit: Exit): Reason {
  const how =
    exit.signal === null ? `ended with exit code ${exit.code ?? 'unknown'}` : `was ended by the signal ${exit.signal}`;
  const cause = findCause(exit);
  const said = exit.stderr.length === 0 ? ' It wrote nothing to standard error.' : '';
  return {
    code: cause.code,
    message: `${quotedPath(exit.command)} ${how}: ${cause.what}.${said}`,
    repair: cause.repair,
  };
}

/** Explains from the system's error why a program could not be started. */
export function explainSpawnError(command: string, error: unknown): Reason {
  return explainSpawnCode(command, error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
}

export function explainSpawnCode(command: string, code: string): Reason {
  const known = isPath(command) ? (pathErrors[code] ?? spawnErrors[code]) : spawnErrors[code];
  return {
    code: known?.code ?? 'not_started',
    message: `Could not start ${quotedPath(command)}: ${known?.what ?? `the system said ${code}`}.`,
    repair: known?.repair ?? 'Try the command by hand on the machine of the runtime.',
  };
}

/** Quotes a command or a folder in a reason, shortened: it may be longer than a whole reason. */
export function quotedPath(path: string): string {
  return `"${shownLine(path, quotedMax)}"`;
}

const quotedMax = 500;

interface Cause {
  readonly code: string;
  readonly what: string;
  readonly repair: string;
}

const commandNotFound: Cause = {
  code: 'command_not_found',
  what: 'the PATH of the runtime has no such command',
  repair: 'Install it on the machine of the runtime, or give the full path of the command.',
};
/** The system says the same of a missing file and of a script whose interpreter is missing. */
const fileNotFound: Cause = {
  code: 'command_not_found',
  what: 'this file does not exist on the machine of the runtime, or the interpreter in its first line does not',
  repair: 'Check the path and the first line of the file.',
};
const notExecutable: Cause = {
  code: 'not_executable',
  what: 'the file is not executable, or the runtime may not run it',
  repair: 'Make it executable (chmod +x), or run it through its interpreter, such as node or python.',
};
const tooMuch: Cause = {
  code: 'arguments_too_large',
  what: 'its arguments and environment are larger than the system allows',
  repair: 'Pass less in args and env, for example the path of a file.',
};
const exhausted: Cause = {
  code: 'system_exhausted',
  what: 'the machine has no resources for another process',
  repair: 'Stop other programs or raise the limits of processes and open files, then wait for the next try.',
};

const pathErrors: Readonly<Record<string, Cause>> = { ENOENT: fileNotFound, ENOTDIR: fileNotFound };

function isPath(command: string): boolean {
  return command.includes('/');
}

const spawnErrors: Readonly<Record<string, Cause>> = {
  ENOENT: commandNotFound,
  EACCES: notExecutable,
  EPERM: notExecutable,
  ENOEXEC: notExecutable,
  ENOTDIR: commandNotFound,
  E2BIG: tooMuch,
  EAGAIN: exhausted,
  ENOMEM: exhausted,
  EMFILE: exhausted,
  ENFILE: exhausted,
};

/** The first match explains, so specific causes come before general ones. */
const causes: readonly (Cause & { readonly pattern: RegExp })[] = [
  {
    pattern: /npm (ERR!|error).*\bE404\b|404 Not Found - GET|is not in this registry/,
    code: 'package_not_found',
    what: 'the package registry has no such package',
    repair: 'Check the spelling and the version of the package in args.',
  },
  {
    pattern: /npm (ERR!|error).*\b(ETARGET|notarget)\b|No matching version found/,
    code: 'package_not_found',
    what: 'the package has no such version',
    repair: 'Check the version of the package in args.',
  },
  {
    pattern: /npm (ERR!|error).*\b(E401|E403|ENEEDAUTH)\b/,
    code: 'package_refused',
    what: 'the package registry refused',
    repair: 'Give the runtime access to the registry, with npm_config_userconfig or in the env of the MCP server.',
  },
  {
    pattern:
      /npm (ERR!|error).*\b(ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b|npm (ERR!|error) network/,
    code: 'registry_unreachable',
    what: 'the package registry is not reachable',
    repair: 'Check network and proxy of the runtime (HTTPS_PROXY, NO_PROXY), or install the package beforehand.',
  },
  {
    pattern: /npm (ERR!|error).*could not determine executable/,
    code: 'package_without_command',
    what: 'the package has no command of that name',
    repair: 'Name package and command: npx -y -p PACKAGE COMMAND.',
  },
  {
    pattern: /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_HAS_EXPIRED|certificate verify failed/i,
    code: 'certificate_not_trusted',
    what: 'a TLS certificate is not trusted',
    repair: 'Give the runtime the authority: NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.',
  },
  {
    pattern: /ERR_MODULE_NOT_FOUND|Cannot find (module|package)|ModuleNotFoundError|No module named/,
    code: 'module_not_found',
    what: 'the program or one of its modules was not found',
    repair: 'Check the path in args and cwd, and install the dependencies of the MCP server.',
  },
  {
    pattern: /EADDRINUSE|[Aa]ddress already in use/,
    code: 'port_taken',
    what: 'its port is in use',
    repair: 'Stop the other program, or give the MCP server another port in args or env.',
  },
  {
    pattern: /ENOSPC|[Nn]o space left on device/,
    code: 'disk_full',
    what: 'the disk is full',
    repair: 'Free space on the machine of the runtime.',
  },
  {
    pattern: /heap out of memory|MemoryError|Cannot allocate memory/,
    code: 'out_of_memory',
    what: 'it ran out of memory',
    repair: 'Give the machine or the MCP server more memory.',
  },
  {
    pattern:
      /([A-Z][A-Z0-9_]{2,}|[Ee]nvironment variable|API key|[Tt]oken)\b.{0,60}\b(is |are )?(required|missing|not set|must be (set|provided)|not provided|undefined)/,
    code: 'setting_missing',
    what: 'a setting is missing',
    repair: 'Set the missing setting in the env of the MCP server.',
  },
  {
    pattern:
      /^\s*usage:|missing (required )?(positional )?argument|(argument|option)s? (is |are )?required|unknown option|unrecognized argument/im,
    code: 'arguments_wrong',
    what: 'its arguments are missing or wrong',
    repair: 'Complete the args of the MCP server.',
  },
  {
    pattern: /Unsupported engine|SyntaxError: (Unexpected|Invalid)|requires (a )?(newer|Node|Python)/i,
    code: 'version_too_old',
    what: 'it does not run on the installed version of its interpreter',
    repair: 'Install the required version on the machine of the runtime.',
  },
  {
    pattern: /EACCES|EPERM|[Pp]ermission denied/,
    code: 'permission_denied',
    what: 'a required file or operation is not permitted',
    repair: 'Check the permissions of the files it names; it runs as the user of the runtime, with its own home.',
  },
  {
    pattern: /ENOENT|[Nn]o such file or directory/,
    code: 'file_not_found',
    what: 'a required file or folder does not exist',
    repair: 'Check the paths in args, env and cwd.',
  },
];

function findCause({ code, signal, stderr }: Exit): Cause {
  const words = stderr.join('\n');
  if (code === 127 || /: (command )?not found$/m.test(words)) return commandNotFound;
  if (code === 126) return notExecutable;
  const known = causes.find(({ pattern }) => pattern.test(words));
  if (known !== undefined) return known;
  if (signal === 'SIGKILL') {
    return {
      code: 'killed',
      what: 'another process killed it, or the machine ran out of memory',
      repair: 'Read the system log of the machine; give the MCP server more memory.',
    };
  }
  return {
    code: 'exited',
    what: code === 0 ? 'it ended by itself instead of serving' : 'it failed',
    repair:
      'Read its last words with svc server logs NAME. Try the same command by hand on the machine of the runtime.',
  };
}
