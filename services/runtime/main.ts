import { toSvcError } from '../contracts/errors.ts';
import { ownVersion } from '../kit/own-version.ts';
import { startRuntime } from './start.ts';

/** The runtime as a process of its own. A second signal ends it at once; its MCP servers end because their input closes. */
async function main(): Promise<void> {
  const running = await startRuntime(process.env, { hub: null, version: ownVersion(), log: process.stdout });
  let asked = false;
  const end = () => {
    if (asked) process.exit(130);
    asked = true;
    void running.stop().then(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

main().catch((thrown: unknown) => {
  const { message, hint } = toSvcError(thrown);
  process.stderr.write(`${message}${hint === undefined ? '' : `\n${hint}`}\n`);
  if (toSvcError(thrown).code === 'internal')
    process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`);
  process.exit(1);
});
