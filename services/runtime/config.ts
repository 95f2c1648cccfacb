import { homedir } from 'node:os';
import path from 'node:path';
import type { AddressBlock } from '../contracts/address-block.ts';
import type { EnvRecord } from '../contracts/env/check.ts';
import type { LogLevel, LogRule } from '../contracts/env/variable.ts';
import { SvcError } from '../contracts/errors.ts';
import { parseKey } from '../contracts/keys.ts';
import type { Sandbox } from '../contracts/sandbox.ts';
import type { Secret } from '../contracts/secret.ts';
import type { Credentials } from '../kit/bus/bus.ts';
import { readEnv } from '../kit/env.ts';
import { inheritedFrom } from './launchers/child-environment.ts';

export interface Config {
  readonly credentials: Credentials;
  readonly busServers: readonly string[];
  readonly busCaPath: string | undefined;
  /** Null when there is no web service. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  readonly heartbeatIntervalMs: number;
  /** Of MCP servers without their own. */
  readonly startMaxMs: number;
  readonly callMaxMs: number;
  readonly workingDir: string;
  readonly forwardStderr: boolean;
  readonly logLevel: LogLevel;
  readonly logLevels: readonly LogRule[];
  /** The home of the runtime's user. */
  readonly home: string;
  /** The part of the environment that MCP servers inherit. */
  readonly inherited: Readonly<Record<string, string>>;
  /** How MCP servers that are child processes are confined. */
  readonly sandbox: Sandbox;
  /** Further paths that sandboxed ones may read. */
  readonly allowedPaths: readonly string[];
  /** Folders that may contain members' working directories. */
  readonly memberFolders: readonly string[];
  /** Paths hidden from sandboxed ones: the platform's own, keys above all. */
  readonly hiddenPaths: readonly string[];
  /** Addresses that URLs of members may reach besides public ones. */
  readonly allowedAddresses: readonly AddressBlock[];
  /** Settings of MCP servers' containers. */
  readonly containers: ContainersConfig;
  readonly warnings: readonly string[];
}

export interface ContainersConfig {
  readonly socket: string;
  readonly image: string;
  readonly memoryMaxMb: number;
}

export function readConfig(record: EnvRecord): Config {
  const { env, warnings } = readEnv('runtime', record);
  return Object.freeze({
    credentials: credentialsFrom(env),
    busServers: env.BUS_SERVERS,
    busCaPath: env.BUS_CA_PATH,
    listen: env.REMOTE_PORT === undefined ? null : { host: env.BIND_HOST, port: env.REMOTE_PORT },
    heartbeatIntervalMs: env.HEARTBEAT_INTERVAL,
    startMaxMs: 1000 * env.MCP_SERVER_START_TIMEOUT_SECONDS,
    callMaxMs: 1000 * env.MCP_SERVER_CALL_TIMEOUT_SECONDS,
    workingDir: env.SVC_WORKING_DIR,
    forwardStderr: env.FORWARD_STDERR,
    logLevel: env.LOG_LEVEL,
    logLevels: env.LOG_LEVELS ?? [],
    home: record.HOME || homedir(),
    inherited: inheritedFrom(record),
    sandbox: env.MCP_SERVER_SANDBOX,
    allowedPaths: env.SVC_ALLOWED_PATHS ?? [],
    memberFolders: env.MCP_SERVER_MEMBER_FOLDERS ?? [],
    hiddenPaths: [...(env.MCP_SERVER_HIDDEN_PATHS ?? []), ...keyFilesOf(record)],
    allowedAddresses: env.MCP_SERVER_ALLOWED_ADDRESSES ?? [],
    containers: {
      socket: env.MCP_SERVER_DOCKER_SOCKET,
      image: env.MCP_SERVER_IMAGE ?? '',
      memoryMaxMb: env.MCP_SERVER_MEMORY_MAX_MB,
    },
    warnings,
  });
}

function keyFilesOf({ RUNTIME_KEY_FILE, SYSTEM_KEY_FILE }: EnvRecord): readonly string[] {
  return [RUNTIME_KEY_FILE, SYSTEM_KEY_FILE].flatMap((file) => (file ? [path.resolve(file)] : []));
}

/**
 * RUNTIME_KEY, or SYSTEM_KEY with RUNTIME_NAME (specification part 5). readEnv has checked that exactly one form is
 * set.
 */
function credentialsFrom(env: ReturnType<typeof readEnv<'runtime'>>['env']): Credentials {
  const { RUNTIME_KEY, SYSTEM_KEY, RUNTIME_NAME } = env;
  if (RUNTIME_KEY !== undefined) return { kind: 'runtime', key: whole('RUNTIME_KEY', RUNTIME_KEY) };
  if (SYSTEM_KEY !== undefined && RUNTIME_NAME !== undefined) {
    return { kind: 'system', key: whole('SYSTEM_KEY', SYSTEM_KEY), component: 'runtime', runtimeName: RUNTIME_NAME };
  }
  throw new SvcError('invalid_input', 'Set RUNTIME_KEY, or SYSTEM_KEY with RUNTIME_NAME.');
}

/** The form was checked before; the checksum reveals a mistyped or missing letter without a request. */
function whole(variable: string, key: Secret): Secret {
  if (parseKey(key.reveal()).ok) return key;
  throw new SvcError('invalid_input', `${variable} has a typo: its checksum is wrong.`, {
    hint: 'Copy the whole key again from where it was printed. To replace a lost key: svc runtime register NAME',
  });
}
