import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { parseLine } from '../../../stack/logs/read-logs.ts';
import { runRuntime, workingDirOf } from '../../../stack/runtime-elsewhere/run-runtime.ts';
import { environment, interruption, SvcCommand } from '../../command.ts';
import { refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { describeLogLine } from '../../output/log-line.ts';
import type { Terminal } from '../../output/terminal.ts';
import { exposure } from '../../runtime-elsewhere/private-file.ts';
import { readVariables, unreadIn } from '../../runtime-elsewhere/read-variables.ts';
import { parseWait } from '../../typed/moment.ts';

export default class RuntimeStart extends SvcCommand {
  static override summary = 'Run a runtime on this machine for a platform on another machine.';
  static override description =
    'Takes the variables that svc runtime register printed, from the environment or a file. The environment wins. Needs no installation. Ends with 4 if it does not reach the platform in time, and later waits for the platform without a limit. The first Ctrl-C lets calls finish; the second ends the runtime at once.';
  static override aliases = ['runtimes:start'];
  static override examples = [
    {
      description: 'With the file that svc runtime register wrote',
      command: '<%= config.bin %> runtime start --variable-file edge.env',
    },
    {
      description: 'With variables of the environment, the key in a file',
      command: 'RUNTIME_KEY_FILE=edge.key BUS_SERVERS=tls://bus.example.com:4222 <%= config.bin %> runtime start',
    },
  ];
  static override flags = {
    'variable-file': Flags.string({ summary: 'File with NAME=value lines.', helpValue: 'FILE' }),
    wait: Flags.string({
      summary: 'How long to try to reach the platform at the start: 30s, 5m, or forever.',
      default: '30s',
      helpValue: 'SPAN',
    }),
  };

  async run(): Promise<void> {
    refuseKeyAsArgument(this.argv, 'Set RUNTIME_KEY, or RUNTIME_KEY_FILE to a file with the key.');
    const { flags } = await this.parse(RuntimeStart);
    const terminal = this.terminal(flags);
    const waitMs = parseWait('--wait', flags.wait);
    const file = flags['variable-file'];
    const given = file === undefined ? {} : await readVariables('--variable-file', file);
    const env = withKeyHidden({ ...given, ...withoutEmpty(environment) }, file);
    for (const warning of [...warningsAbout(file, env), ...unreadIn(given)]) terminal.warn(warning);
    terminal.talk(`The runtime works in ${workingDirOf(env)}. Ctrl-C ends it.`);
    await runRuntime({
      env,
      log: { write: (line) => show(line, terminal) },
      signal: interruption(),
      waitMs,
      onWarning: (warning) => terminal.warn(warning),
    });
    terminal.talk('Stopped; its MCP servers have ended.');
  }
}

/** Sandboxed MCP servers must not read the file with the key. */
function withKeyHidden(env: EnvRecord, file: string | undefined): EnvRecord {
  if (file === undefined || env.MCP_SERVER_SANDBOX === 'none-for-everybody') return env;
  const hidden = [env.MCP_SERVER_HIDDEN_PATHS, resolve(file)].filter(Boolean).join(':');
  return { ...env, MCP_SERVER_HIDDEN_PATHS: hidden };
}

function warningsAbout(file: string | undefined, env: EnvRecord): readonly string[] {
  const warnings: string[] = [];
  const seen = file === undefined ? null : exposure(file, statSync(file));
  if (seen !== null) warnings.push(seen);
  if (!env.SVC_WORKING_DIR) {
    warnings.push('SVC_WORKING_DIR is not set: files of MCP servers may be lost when this machine restarts.');
  }
  return warnings;
}

/** People read lines, programs read JSON. */
function show(line: string, terminal: Terminal): void {
  const text = line.trimEnd();
  if (terminal.asJson) terminal.json(JSON.parse(text));
  else terminal.result(terminal.columns === null ? text : describeLogLine(parseLine('runtime', text), terminal));
}

/** An empty variable is an unset one. */
function withoutEmpty(env: EnvRecord): EnvRecord {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
