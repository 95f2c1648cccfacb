import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The shell reads its input, which closes when the test's process ends in any way. */
const endWithInput = '"$0" "$@" & child=$!; read -r _; kill -9 $child; wait $child';

/** Runs a program until it is disposed of, and at most as long as the test. */
export function runWithTest(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): AsyncDisposable {
  const child = spawn('/bin/sh', ['-c', endWithInput, ...command], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      await ended;
    },
  };
}
