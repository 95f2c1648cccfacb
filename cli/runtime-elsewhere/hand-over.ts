import { drainMs } from '../../services/contracts/drain.ts';
import { shellWord } from '../shell-word.ts';

/** Everything that another machine needs to run a runtime, as variables, files and a systemd unit. */
export interface HandOver {
  /** Variables of `svc runtime start`. Relative paths are relative to the file's folder. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the file with these variables. */
  readonly envFile: string;
  /** Certificate authority of the bus, to be put beside that file; null if none is needed. */
  readonly authority: { readonly file: string; readonly pem: string } | null;
  readonly command: string;
}

export interface Registered {
  readonly name: string;
  readonly key: string;
  readonly busServers: readonly string[];
  readonly authority: string | null;
}

/** `envFile` is the file's name, or null for the default. */
export function handOver({ name, key, busServers, authority }: Registered, envFile: string | null): HandOver {
  const file = envFile ?? `${wordOf(name)}.env`;
  const stem = file.replace(/\.env$/, '');
  const ca = authority === null ? null : { file: `${stem}-ca.pem`, pem: authority };
  return {
    env: {
      RUNTIME_KEY: key,
      BUS_SERVERS: busServers.join(','),
      ...(ca === null ? {} : { BUS_CA_PATH: ca.file }),
      // MCP servers keep their homes in this folder. /tmp would lose them.
      SVC_WORKING_DIR: `${stem}-work`,
    },
    envFile: file,
    authority: ca,
    command: `svc runtime start --variable-file ${shellWord(file)}`,
  };
}

export function envText(name: string, { env }: HandOver): string {
  const lines = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
  return [
    `# The runtime "${name}". Keep this file private: its key gives the rights of the runtime.`,
    ...lines,
    '',
  ].join('\n');
}

/** A systemd unit. Its files are in /etc/svc, readable by root only, and it runs as a separate user. */
export function systemdUnit(name: string, { envFile }: HandOver): string {
  return `[Unit]
Description=Runtime ${name} of svc-platform
Wants=network-online.target
After=network-online.target

[Service]
EnvironmentFile=/etc/svc/${envFile}
WorkingDirectory=/etc/svc
DynamicUser=yes
StateDirectory=svc-runtime-${wordOf(name)}
ExecStart=/usr/bin/env SVC_WORKING_DIR=\${STATE_DIRECTORY} svc runtime start
Restart=always
RestartSec=5
KillMode=mixed
TimeoutStopSec=${drainMs / 1000 + 10}

[Install]
WantedBy=multi-user.target
`;
}

/** A runtime's name may hold spaces. Names of files and units must not. */
export function wordOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-');
}
