import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Installation, runtimeDirOf } from '../../state/installation.ts';

/** Starts an MCP server as a killed runtime leaves it: still running, with the note by which svc finds it. */
export async function leaveMcpServer(installation: Installation, part: string) {
  const mark = `left-by-${part}`;
  const notes = join(runtimeDirOf(installation, part), 'children');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, mark), `${JSON.stringify({ mark, owner: { pid: process.pid, birth: 'another' } })}\n`);
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)'], {
    ...{ env: { SVC_MCP_SERVER_INSTANCE: mark }, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  // Linux does not show the variables of a process in the first moment after its start.
  await once(child.stdout, 'data');
  const ended = once(child, 'exit');
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
