/** The author of a launch: an operator of the platform, or a member of its workspace. */
export const authors = ['operator', 'member'] as const;
export type Author = (typeof authors)[number];

/**
 * How a runtime confines MCP servers that are commands. `auto`: members' commands run behind bubblewrap, operators'
 * commands as processes. `bwrap` and `container` confine all of them, `none-for-everybody` none.
 */
export const sandboxes = ['auto', 'bwrap', 'container', 'none-for-everybody'] as const;
export type Sandbox = (typeof sandboxes)[number];

/** The older name of no sandbox. It is read as `auto`: an upgrade must not leave members' commands without one. */
export const formerNone = 'none';
export const formerNoneIsAuto =
  "runtime.sandbox: none (MCP_SERVER_SANDBOX) is read as auto: operators' commands run as processes, as before, and members' commands run in a sandbox. Write auto, or none-for-everybody to run members' commands without a sandbox";

/** The confinement in which the command of one MCP server runs. */
export type Confinement = 'none' | 'bwrap' | 'container';

/** `sandbox` is the setting that a runtime reports; a runtime of an older version reports `none`, or unknown words. */
export function confinementOf(sandbox: string, setBy: Author): string {
  if (sandbox === 'auto') return setBy === 'member' ? 'bwrap' : 'none';
  return sandbox === 'none-for-everybody' ? 'none' : sandbox;
}

/**
 * HOME of an operator's command that no sandbox confines. `user`: that of the runtime's user. `own`: one of the MCP
 * server, because the user has none that the runtime may write to, as in a container.
 */
export type HomeOfOperators = 'user' | 'own';

/** `home` is what a runtime reports; a runtime of an older version reports nothing, and gives each its own. */
export function homeOf({ sandbox, home }: { readonly sandbox: string; readonly home: string | null }, setBy: Author) {
  const isOfUser = home === 'user' && setBy === 'operator' && confinementOf(sandbox, setBy) === 'none';
  return isOfUser ? ('user' as const) : ('own' as const);
}

/** Separate namespaces for everything but the network. Root needs no user namespace on systems that provide none. */
export const bwrapNamespaces: readonly string[] = [
  ...['--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--new-session', '--die-with-parent', '--cap-drop', 'ALL'],
];

/** Prefix of bubblewrap's own messages. */
export const bwrapVoice = /^bwrap: /;

export interface Obstacle {
  readonly what: string;
  readonly repair: string;
}

export const noBwrap: Obstacle = {
  what: 'the program bwrap is not on PATH',
  repair:
    'Install it: the package bubblewrap of most systems. It is for Linux only, and the containers of engine: docker do not have it.',
};

/** Explains from bubblewrap's message why it cannot make a sandbox here, with the repair. */
export function explainBwrap(words: string): Obstacle {
  return (
    obstacles.find(({ pattern }) => pattern.test(words)) ?? { what: `bwrap said "${said(words)}"`, repair: byHand }
  );
}

/** The first match explains. */
const obstacles: readonly (Obstacle & { readonly pattern: RegExp })[] = [
  {
    pattern: /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/,
    what: 'the system lets bwrap create a user namespace, but AppArmor forbids everything inside it',
    repair:
      'Give bwrap a profile of AppArmor that allows userns (on Ubuntu apparmor-profiles has one: bwrap-userns-restrict), or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0.',
  },
  {
    pattern:
      /No permissions to creat(e|ing) (a )?new namespace|Creating new namespace failed: (Operation not permitted|Permission denied)|Creating new namespace failed, likely/,
    what: 'the system allows only root to create namespaces',
    repair:
      'Allow user namespaces: the sysctl kernel.unprivileged_userns_clone=1 on Debian. In a container, its seccomp profile forbids them.',
  },
  {
    pattern: /Creating new namespace failed: (No space left|nesting depth)|user\.max_user_namespaces/,
    what: 'the system has reached its limit of namespaces',
    repair: 'Raise the sysctl user.max_user_namespaces, which may be 0.',
  },
  {
    pattern: /Can't mount proc/,
    what: 'the system does not let a sandbox mount its own /proc, as inside most containers',
    repair: 'Run the runtime outside of the container, or give the container an unmasked /proc.',
  },
  {
    pattern: /(Failed to make|pivot_root|mount|remount|bind).*: (Operation not permitted|Permission denied)/i,
    what: 'the system does not let bwrap mount anything',
    repair:
      'In a container, its seccomp profile or AppArmor forbids it: allow mount there, or run the runtime outside of it.',
  },
];

const byHand =
  'Try it by hand on the machine of the runtime: bwrap --unshare-user --unshare-pid --ro-bind / / --proc /proc true';

function said(words: string): string {
  const lines = words.split('\n').filter((line) => bwrapVoice.test(line));
  return (lines.at(-1) ?? words).replace(bwrapVoice, '').trim().slice(0, 300) || 'nothing';
}
