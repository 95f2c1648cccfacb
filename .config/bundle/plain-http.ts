import type { Plugin } from 'esbuild';

/**
 * Loads node:http as CommonJS does. An ES import of it reads every one of its properties, and some of those load Node's whole
 * fetch and WebSocket: 60 ms and 13 MB in every process, for nothing that runs here.
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
