/** How a child ended. */
export interface Exit {
  /** The name of its MCP server. */
  readonly name: string;
  readonly command: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Its last lines on standard error, without secrets. */
  readonly stderr: readonly string[];
}

/** Why a program ended or did not start, and its likely repair. */
export interface Cause {
  readonly code: string;
  readonly what: string;
  readonly repair: string;
}

export const commandNotFound: Cause = {
  code: 'command_not_found',
  what: 'the PATH of the runtime has no such command',
  repair:
    'Install it on the machine of the runtime, or give the full path of the command. A folder that is new on your PATH counts from the next svc up.',
};
export const notExecutable: Cause = {
  code: 'not_executable',
  what: 'the file is not executable, or the runtime may not run it',
  repair: 'Make it executable (chmod +x), or run it through its interpreter, such as node or python.',
};

/** Finds the cause of an end in its exit code and last lines. */
export function findCause({ name, code, signal, stderr }: Exit): Cause {
  const words = stderr.join('\n');
  if (code === 127 || /: (command )?not found$/m.test(words)) return commandNotFound;
  if (code === 126) return notExecutable;
  for (const { pattern, explain, ...cause } of causes) {
    const match = pattern.exec(words);
    if (match !== null) return { ...cause, ...explain?.({ name, words, match }) };
  }
  if (signal === 'SIGKILL') {
    return {
      code: 'killed',
      what: 'another process killed it, or the machine ran out of memory',
      repair: 'Read the system log of the machine; give the MCP server more memory.',
    };
  }
  const read = stderr.length === 0 ? '' : `Read its last words with svc server logs ${name}. `;
  return {
    code: 'exited',
    what: code === 0 ? 'it ended by itself instead of serving' : 'it failed',
    repair: `${read}Try the same command by hand on the machine of the runtime.`,
  };
}

interface Found {
  readonly name: string;
  readonly words: string;
  readonly match: RegExpExecArray;
}

interface KnownCause extends Cause {
  readonly pattern: RegExp;
  /** What the lines say more exactly. */
  readonly explain?: (found: Found) => Partial<Cause>;
}

/** The first match explains, so specific causes come before general ones. */
const causes: readonly KnownCause[] = [
  {
    pattern:
      /npm (ERR!|error).*\bE404\b|404 Not Found - GET|is not in this registry|was not found in the package registry/,
    code: 'package_not_found',
    what: 'the package registry has no such package',
    repair: 'Check the spelling and the version of the package in args.',
  },
  {
    // uv names an older interpreter beside versions that it rejects for it.
    pattern: /(?:does not satisfy|depends? on) Python ?>=? ?(\d+\.\d+)/,
    code: 'version_too_old',
    what: 'the package needs a newer Python',
    repair: 'Install the required version on the machine of the runtime.',
    explain: ({ match: [, version = ''] }) => ({
      what: `the package needs Python ${version} or newer`,
      repair: `Start it with another Python: uvx --python ${version} PACKAGE. Or install Python ${version} on the machine of the runtime.`,
    }),
  },
  {
    pattern: /npm (ERR!|error).*\b(ETARGET|notarget)\b|No matching version found|there (is|are) no versions? of \S/,
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
      /npm (ERR!|error).*\b(ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b|npm (ERR!|error) network|Failed to fetch: `http|client error \(Connect\)/,
    code: 'registry_unreachable',
    what: 'the package registry is not reachable',
    repair: 'Check network and proxy of the runtime (HTTPS_PROXY, NO_PROXY), or install the package beforehand.',
  },
  {
    pattern:
      /npm (ERR!|error).*could not determine executable|does not provide any executables|executable named .* is not provided/,
    code: 'package_without_command',
    what: 'the package has no command of that name',
    repair: 'Name package and command: npx -y -p PACKAGE COMMAND, or uvx --from PACKAGE COMMAND.',
  },
  {
    pattern: /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_HAS_EXPIRED|certificate verify failed/i,
    code: 'certificate_not_trusted',
    what: 'a TLS certificate is not trusted',
    repair: 'Give the runtime the authority: NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.',
  },
  {
    // A start that reaches its deadline during the download of npx leaves half a package.
    pattern: /npm (ERR!|error).*\b(Invalid Version|ENOTEMPTY)\b|Cannot find (module|package) .*[/\\]_npx[/\\]/,
    code: 'package_broken',
    what: 'the downloaded package is not complete',
    repair:
      'Remove the folder where npx keeps downloads, ~/.npm/_npx, and restart the MCP server. If it fails again, name another version of the package in args.',
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
      /\b([A-Z][A-Z0-9_]{2,}|[Ee]nvironment variable|API key|[Tt]oken)\b.{0,60}\b(is |are )?(required|missing|not set|must be (set|provided)|not provided|undefined)|[Nn]o (API key|(access )?token|credentials?)\b.{0,40}\b(provided|found|set|given|configured)|\b[Ss]et (the )?[A-Z][A-Z0-9]*_[A-Z0-9_]+/,
    code: 'setting_missing',
    what: 'a setting is missing',
    repair: 'Set the missing setting in the env of the MCP server.',
    explain: explainSetting,
  },
  {
    // Some programs print their usage after every error.
    pattern:
      /^\s*usage:(?<!^\W*error\b[\s\S]*)|missing (required )?(positional )?argument|(argument|option)s? (is |are )?required|required flag|unknown (option|flag|shorthand|command)|unrecognized argument/im,
    code: 'arguments_wrong',
    what: 'its arguments are missing or wrong',
    repair: 'Complete the args of the MCP server.',
    explain: ({ name }) => ({ repair: `Give it the complete command: svc server update ${name} -- COMMAND` }),
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
  {
    pattern:
      /\b(getaddrinfo|connect) (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)\b|Name or service not known|name resolution|[Cc]onnection refused/,
    code: 'service_unreachable',
    what: 'an address that it needs cannot be reached',
    repair:
      'Check that address in args and env, and the network of the machine of the runtime (HTTPS_PROXY, NO_PROXY).',
  },
];

/** Names the variables of the matching line and the next one. A name in this form is no secret. */
function explainSetting({ name, words, match: { index } }: Found): Partial<Cause> {
  const start = words.lastIndexOf('\n', index) + 1;
  const lines = words.slice(start).split('\n', 2).join('\n');
  const [variable, ...others] = new Set(lines.match(variableName));
  if (variable === undefined) {
    return { repair: `Set it: svc server update ${name} --env NAME. Its last words name it: svc server logs ${name}` };
  }
  const what = others.length === 0 ? `the setting ${variable} is missing` : `a setting is missing, such as ${variable}`;
  return { what, repair: `Set it: svc server update ${name} --env ${variable}` };
}

const variableName = /\b(?!ERR_)[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b/g;
