import { SvcError } from '../../services/contracts/errors.ts';

/** Everything that a service of the machine needs to start a platform. */
export interface BootPlan {
  readonly name: string;
  readonly dir: string;
  /** Node and the script of svc, as absolute paths. */
  readonly node: string;
  readonly script: string;
  /** Where MCP servers and nodes of the bus find programs. */
  readonly path: string;
  /** The user of a system unit; null for a unit of this user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** Longer than the platform's own deadline for a stop. */
const stopSeconds = 75;
/** Exit codes of wrong settings, a refusal and a conflict: a repeated start would end in the same way. */
const finalCodes = '2 3 5';

/** systemd.service(5), systemd.exec(5). */
export function systemdUnitOf(plan: BootPlan): string {
  const { name, dir, path, owner } = plan;
  const [node = '', ...words] = commandOf(plan);
  // The platform ends its parts by itself. What a killed one leaves is killed.
  return `[Unit]
Description=Platform ${specifiers(name)} of svc
${owner === null ? '' : 'Wants=network-online.target\nAfter=network-online.target\n'}RequiresMountsFor=${quoted(dir)}

[Service]
${owner === null ? '' : `User=${owner.uid}\nGroup=${owner.gid}\n`}WorkingDirectory=${specifiers(plain(dir))}
Environment=${quoted(`PATH=${path}`)}
ExecStart=${[quoted(node), ...words.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ')}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=${finalCodes}
KillMode=mixed
TimeoutStopSec=${stopSeconds}

[Install]
WantedBy=${owner === null ? 'default.target' : 'multi-user.target'}
`;
}

/** launchd.plist(5). */
export function launchdPlistOf(label: string, plan: BootPlan): string {
  const words = commandOf(plan).map((word) => `    <string>${escaped(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escaped(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${escaped(plan.dir)}</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${escaped(plan.path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds}</integer>
</dict>
</plist>
`;
}

function commandOf({ node, script, dir }: BootPlan): readonly string[] {
  return [node, script, 'up', '--foreground', '--no-input', '--dir', dir];
}

/** systemd.syntax(7), "Quoting". */
function quoted(text: string): string {
  return `"${specifiers(plain(text)).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** systemd.unit(5), "Specifiers". */
function specifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

/** A line break would begin another setting. */
function plain(text: string): string {
  if (!/\p{Cc}/u.test(text)) return text;
  throw new SvcError(
    'unsupported',
    `${JSON.stringify(text)} contains a control character, so no service can start it.`,
    {
      hint: 'Rename the folder, or correct PATH.',
    },
  );
}

function escaped(text: string): string {
  return plain(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
