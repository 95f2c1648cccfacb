/** Who set how an MCP server is started: an operator of the platform, or a member of its workspace. */
export const authors = ['operator', 'member'] as const;
export type Author = (typeof authors)[number];

/**
 * How a runtime confines the MCP servers that are commands. `auto`: those that members set run behind bubblewrap, those that operators set run
 * as processes. `bwrap` and `container` confine all of them, `none-for-everybody` none.
 */
export const sandboxes = ['auto', 'bwrap', 'container', 'none-for-everybody'] as const;
export type Sandbox = (typeof sandboxes)[number];

/** What older versions called no sandbox. It is read as `auto`: an upgrade must not leave members' commands without one. */
export const formerNone = 'none';
export const formerNoneIsAuto =
  "runtime.sandbox: none (MCP_SERVER_SANDBOX) is read as auto: commands that operators set run as processes, as before, and commands that members set run in a sandbox. Write auto, or none-for-everybody to run members' commands without a sandbox";

/** What the command of one MCP server really runs in. */
export type Confinement = 'none' | 'bwrap' | 'container';

/** `sandbox` is the setting as a runtime reports it; one of an older version reports `none`, and may report other words. */
export function confinementOf(sandbox: string, setBy: Author): string {
  if (sandbox === 'auto') return setBy === 'member' ? 'bwrap' : 'none';
  return sandbox === 'none-for-everybody' ? 'none' : sandbox;
}

/** Namespaces of its own for everything but the network. Who is root needs no user namespace where the system gives none. */
export const bwrapNamespaces: readonly string[] = [
  ...['--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--new-session', '--die-with-parent', '--cap-drop', 'ALL'],
];

/** What bubblewrap says of itself begins so. */
export const bwrapVoice = /^bwrap: /;

export interface Obstacle {
  readonly what: string;
  readonly repair: string;
}

export const noBwrap: Obstacle = {
  what: 'there is no program bwrap on the path',
  repair:
    'Install it: the package bubblewrap of most systems. It is for Linux only, and the containers of engine: docker have none.',
};

/** What keeps bubblewrap from making a sandbox here, from its own words, and what mends that. */
export function explainBwrap(words: string): Obstacle {
  return (
    obstacles.find(({ pattern }) => pattern.test(words)) ?? { what: `bwrap said "${said(words)}"`, repair: byHand }
  );
}

/** The first that matches explains. */
const obstacles: readonly (Obstacle & { readonly pattern: RegExp })[] = [
  {
    pattern: /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/,
    what: 'the system lets bwrap make a user namespace, and do nothing in it: AppArmor restricts it',
    repair:
      'Give bwrap a profile of AppArmor that allows userns (on Ubuntu apparmor-profiles has one: bwrap-userns-restrict), or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0.',
  },
  {
    pattern:
      /No permissions to creat(e|ing) (a )?new namespace|Creating new namespace failed: (Operation not permitted|Permission denied)|Creating new namespace failed, likely/,
    what: 'the system lets nobody but root make namespaces',
    repair:
      'Allow user namespaces: the sysctl kernel.unprivileged_userns_clone=1 on Debian. In a container it is the seccomp profile of that container that forbids them.',
  },
  {
    pattern: /Creating new namespace failed: (No space left|nesting depth)|user\.max_user_namespaces/,
    what: 'the system has no room for another namespace',
    repair: 'Raise the sysctl user.max_user_namespaces, which may be 0.',
  },
  {
    pattern: /Can't mount proc/,
    what: 'the system gives a sandbox no /proc of its own, as inside most containers',
    repair: 'Run the runtime outside of the container, or let the container have an unmasked /proc.',
  },
  {
    pattern: /(Failed to make|pivot_root|mount|remount|bind).*: (Operation not permitted|Permission denied)/i,
    what: 'the system does not let bwrap mount anything',
    repair:
      'In a container its seccomp profile or AppArmor forbids it: allow mount there, or run the runtime outside of it.',
  },
];

const byHand =
  'Try it by hand on the machine of the runtime: bwrap --unshare-user --unshare-pid --ro-bind / / --proc /proc true';

function said(words: string): string {
  const lines = words.split('\n').filter((line) => bwrapVoice.test(line));
  return (lines.at(-1) ?? words).replace(bwrapVoice, '').trim().slice(0, 300) || 'nothing';
}
