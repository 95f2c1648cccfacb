import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** Whether bwrap is there and the system lets it make a sandbox, tried with no more than what that takes. */
export const canSandbox =
  spawnSync('bwrap', ['--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true']).status === 0;

/** Where it lies. */
export const pathOfBwrap = spawnSync('sh', ['-c', 'command -v bwrap']).stdout.toString().trim();

/** Variables of a runtime that sandboxes the scripts of these tests. */
export const sandboxing = {
  MCP_SERVER_SANDBOX: 'bwrap',
  SVC_ALLOWED_PATHS: path.join(import.meta.dirname, 'children'),
};
