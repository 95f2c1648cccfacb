import type { Plugin } from 'esbuild';

/** What dockerode brings for daemons that are reached in other ways, or that build in other ways, than ours. */
const uncalled = [
  { from: /docker-modem[\\/]lib$/, path: './ssh' },
  { from: /dockerode[\\/]lib$/, path: './session' },
  { from: /dockerode[\\/]lib$/, path: './buildkit' },
];

/**
 * Leaves out dockerode's SSH client, with its native parts, and its gRPC: the daemon is on this machine and is asked over a socket. Whoever
 * calls one of them nevertheless is told what is missing.
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
