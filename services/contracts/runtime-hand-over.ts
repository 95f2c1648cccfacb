import { drainMs } from './drain.ts';
import { isLoopbackServer } from './loopback.ts';
import { shellWord } from './shell-word.ts';

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

const endOfFile = 'END';

export interface PastedBlock {
  readonly given: HandOver;
  readonly name: string;
  /** The version of `svc` to run. */
  readonly version: string;
  /** The files were written here, for the person to copy. The block then contains no key. */
  readonly isWritten: boolean;
}

/**
 * Everything to paste into a shell of the other machine, as one command. The key is in a here-document: no argument
 * and no other process shows it. Shells that ignore lines with a leading space keep it out of their history.
 */
export function pastedBlock({ given, name, version, isWritten }: PastedBlock): string {
  const { authority, env, envFile } = given;
  if (isWritten) {
    const file = shellWord(envFile);
    return `chmod 600 ${file} &&\n${npx(version)} runtime start --variable-file ${file}`;
  }
  const folder = folderOf(name);
  const file = `${folder}/${envFile}`;
  const ca = authority && { path: `${folder}/${authority.file}`, text: certificatesIn(authority.pem) };
  return [
    ` mkdir -p ${folder} && rm -f ${file} && (umask 077 && cat > ${file}) <<'${endOfFile}' &&`,
    ...Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
    endOfFile,
    ...(ca === null ? [] : [`cat > ${ca.path} <<'${endOfFile}' &&`, ca.text, endOfFile]),
    `${npx(version)} runtime start --variable-file ${file}`,
  ].join('\n');
}

/** The line that starts it again, without the files. */
export function startAgain({ given, name, version, isWritten }: PastedBlock): string {
  const file = isWritten ? shellWord(given.envFile) : `${folderOf(name)}/${given.envFile}`;
  return `${npx(version)} runtime start --variable-file ${file}`;
}

/**
 * A container with the files' folder, which is the current one. Its MCP servers find the programs of this image. npx
 * starts a shell, which would not pass the signal of `docker stop` on: `exec` leaves no shell.
 */
export function dockerCommand(name: string, { envFile }: HandOver, { version, image }: DockerOptions): string {
  const command = `exec svc-platform runtime start --variable-file ${shellWord(envFile)}`;
  return [
    `docker run -d --name ${folderOf(name)} --init --restart unless-stopped --stop-timeout ${stopMaxSeconds} \\`,
    `  -v "$PWD":/runtime -w /runtime ${image} \\`,
    `  npx -y -p svc-platform@${version} -c ${shellWord(command)}`,
  ].join('\n');
}

/** Running calls may finish before. */
const stopMaxSeconds = drainMs / 1000 + 10;

interface DockerOptions {
  readonly version: string;
  /** With Node 24. */
  readonly image: string;
}

function npx(version: string): string {
  return `npx -y -p svc-platform@${version} svc`;
}

function folderOf(name: string): string {
  return `svc-runtime-${wordOf(name)}`;
}

/** Without the comments of the file, which could end the here-document. */
function certificatesIn(pem: string): string {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).join('\n');
}

/**
 * A systemd unit. Its files are in /etc/svc, readable by root only, and it runs as a separate user, whose home is the
 * folder that systemd makes for it. `svc-platform` is the same command, and no output replaces it by `npx svc`.
 */
export function systemdUnit(name: string, { envFile }: HandOver): string {
  return `[Unit]
Description=Runtime ${name} of svc-platform
Wants=network-online.target
After=network-online.target

[Service]
EnvironmentFile=/etc/svc/${envFile}
WorkingDirectory=/etc/svc
DynamicUser=yes
StateDirectory=${folderOf(name)}
Environment=HOME=%S/${folderOf(name)}
ExecStart=/usr/bin/env SVC_WORKING_DIR=\${STATE_DIRECTORY} svc-platform runtime start
Restart=always
RestartSec=5
KillMode=mixed
TimeoutStopSec=${stopMaxSeconds}

[Install]
WantedBy=multi-user.target
`;
}

/** A runtime's name may hold spaces. Names of files and units must not. */
export function wordOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-');
}

/** A warning about the bus's addresses, or null. */
export function warningAbout(servers: readonly string[]): string | null {
  if (servers.every(isLoopbackServer)) {
    return `${servers.join(', ')} is a loopback address, which other machines cannot reach. An operator sets bus.public in svc.yaml and runs svc up.`;
  }
  const open = servers.filter((server) => !server.startsWith('tls://') && !isLoopbackServer(server));
  return open.length === 0 ? null : `${open.join(', ')} has no TLS: the key of the runtime can be read on the network.`;
}
