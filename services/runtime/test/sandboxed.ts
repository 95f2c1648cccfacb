import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import { script } from './platform.ts';

/** Whether bwrap exists and can make a sandbox, tried with the least that needs. */
export const canSandbox =
  spawnSync('bwrap', ['--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true']).status === 0;

/** Its path. */
export const pathOfBwrap = spawnSync('sh', ['-c', 'command -v bwrap']).stdout.toString().trim();

const allowed = { SVC_ALLOWED_PATHS: path.join(import.meta.dirname, 'children') };

/** Variables of a runtime that sandboxes the scripts of these tests. */
export const sandboxing = { MCP_SERVER_SANDBOX: 'bwrap', ...allowed };

/** Variables of a runtime that confines members' commands, as by default. */
export const confining = allowed;

/** Socket of a Docker that tests may use; null when none is set. */
export const dockerSocket = process.env.SVC_TEST_DOCKER_HOST?.slice('unix://'.length) ?? null;

/** The same in containers. */
export const containing = {
  MCP_SERVER_SANDBOX: 'container',
  MCP_SERVER_DOCKER_SOCKET: dockerSocket ?? '',
  MCP_SERVER_IMAGE: 'node:24.21.0-bookworm-slim',
  ...allowed,
};

/** A script, run by the Node of an image. */
export const scriptInImage: typeof script = (...given) => ({ ...script(...given), command: 'node' });

/** Every kind of sandbox hides the same; the error of an attempt differs. */
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
        // The image's own, where no user has a password.
        etc: expect.stringMatching(/^root:\*:/),
        socket: 'ENOENT',
        abstractSocket: 'ECONNREFUSED',
        loopback: 'fetch failed',
        covered: '',
      },
    },
  ],
] as const;
