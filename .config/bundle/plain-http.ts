import type { Plugin } from 'esbuild';

/**
 * Loads node:http as CommonJS does. An ES import reads every property of it, and some of them load Node's whole fetch
 * and WebSocket. That costs every process 60 ms and 13 MB, and nothing here uses them.
 */
export const plainHttp: Plugin = {
  name: 'plain-http',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ path, kind }) =>
      kind === 'import-statement' || kind === 'dynamic-import' ? { path, namespace: 'plain-http' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'plain-http' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};
