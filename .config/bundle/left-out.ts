import type { Plugin } from 'esbuild';

/** Parts of dockerode for daemons with other connections or builds, which the platform does not use. */
const uncalled = [
  { from: /docker-modem[\\/]lib$/, path: './ssh' },
  { from: /dockerode[\\/]lib$/, path: './session' },
  { from: /dockerode[\\/]lib$/, path: './buildkit' },
];

/**
 * Leaves out dockerode's SSH client, with its native parts, and its gRPC: the daemon is on this machine, behind a
 * socket. A call to one of them gets an error that names the missing part.
 */
export const socketOnly: Plugin = {
  name: 'socket-only',
  setup(build) {
    build.onResolve({ filter: /^\.\/(ssh|session|buildkit)$/ }, ({ path, resolveDir }) =>
      uncalled.some((one) => one.path === path && one.from.test(resolveDir))
        ? { path, namespace: 'socket-only' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'socket-only' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error(${JSON.stringify(`${path} is not part of this package`)}); };`,
      loader: 'js',
    }));
  },
};
