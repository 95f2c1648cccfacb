import type { Plugin } from 'esbuild';

/** Parts of packages that the platform does not use, by the folder that names them. */
const uncalled = [
  // The daemon is on this machine, behind a socket: no SSH client, with its native parts, and no gRPC.
  { from: /docker-modem[\\/]lib$/, path: './ssh' },
  { from: /dockerode[\\/]lib$/, path: './session' },
  { from: /dockerode[\\/]lib$/, path: './buildkit' },
  // Routes have no schemas, and tests send real requests.
  { from: /fastify[\\/]lib$/, path: '@fastify/ajv-compiler' },
  { from: /fastify[\\/]lib$/, path: '@fastify/fast-json-stringify-compiler' },
  { from: /fastify$/, path: 'light-my-request' },
  // Messages are in English, which zod loads by itself.
  { from: /zod[\\/]v4[\\/](classic|core)$/, path: '../locales/index.js' },
];

/** Leaves out these parts, because every process keeps the text of its modules in memory. A call to one fails and names it. */
export const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    const names = uncalled.map(({ path }) => path.replaceAll('.', String.raw`\.`));
    build.onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path, resolveDir }) =>
      uncalled.some((one) => one.path === path && one.from.test(resolveDir))
        ? { path, namespace: 'left-out' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error(${JSON.stringify(`${path} is not part of this package`)}); };`,
      loader: 'js',
    }));
  },
};
