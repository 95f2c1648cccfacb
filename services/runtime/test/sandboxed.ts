import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import { script } from './platform.ts';

/** Whether bwrap is there and the system lets it make a sandbox, tried with no more than what that takes. */
export const canSandbox =
  spawnSync('bwrap', ['--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true']).status === 0;

/** Where it lies. */
export const pathOfBwrap = spawnSync('sh', ['-c', 'command -v bwrap']).stdout.toString().trim();

const allowed = { SVC_ALLOWED_PATHS: path.join(import.meta.dirname, 'children') };

/** Variables of a runtime that sandboxes the scripts of these tests. */
export const sandboxing = { MCP_SERVER_SANDBOX: 'bwrap', ...allowed };

/** Variables of a runtime that confines what members set, as it does without being told to. */
export const confining = allowed;

/** Socket of a Docker that tests may use; null where none is named. */
export const dockerSocket = process.env.SVC_TEST_DOCKER_HOST?.slice('unix://'.length) ?? null;

/** The same in containers. */
export const containing = {
  MCP_SERVER_SANDBOX: 'container',
  MCP_SERVER_DOCKER_SOCKET: dockerSocket ?? '',
  MCP_SERVER_IMAGE: 'node:24.21.0-bookworm-slim',
  ...allowed,
};

/** A script, run by the Node that an image brings. */
export const scriptInImage: typeof script = (...given) => ({ ...script(...given), command: 'node' });

/** Every kind of sandbox keeps the same apart; what an attempt fails with differs. */
export const kinds = [
  [
    'a sandbox',
    {
      isThere: canSandbox,
      sandboxing,
      script,
      answers: {
        etc: 'ENOENT',
        socket: 'EAFNOSUPPORT',
        abstractSocket: 'EAFNOSUPPORT',
        loopback: 'hi',
        covered: 'EACCES',
      },
    },
  ],
  [
    'a container',
    {
      isThere: dockerSocket !== null,
      sandboxing: containing,
      script: scriptInImage,
      answers: {
        // The image's own, where nobody has a password.
        etc: expect.stringMatching(/^root:\*:/),
        socket: 'ENOENT',
        abstractSocket: 'ECONNREFUSED',
        loopback: 'fetch failed',
        covered: '',
      },
    },
  ],
] as const;
