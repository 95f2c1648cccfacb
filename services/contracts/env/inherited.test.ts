import { expect, test } from 'vitest';
import { inheritedByChildren } from './inherited.ts';

test('a child inherits the program path, its language, proxies, certificate authorities and npm settings, and nothing else', () => {
  const passed = {
    PATH: '/bin',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    TZ: 'UTC',
    https_proxy: 'http://proxy:1',
    NO_PROXY: '*',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    SSL_CERT_FILE: '/ca.pem',
    npm_config_cache: '/cache',
  };
  const kept = {
    HOME: '/root',
    SYSTEM_KEY: 'SYK_x',
    RUNTIME_KEY_FILE: '/secrets/key',
    BUS_SERVERS: 'inproc:',
    NODE_OPTIONS: '--inspect',
    XPATH: '/bin',
    PATHS: '/bin',
    UNSET: undefined,
  };
  expect(inheritedByChildren({ ...passed, ...kept })).toEqual(passed);
});

test("npm's variables about its current command are not passed on to the npx of an MCP server", () => {
  const invocation = { npm_config_package: 'svc-platform', npm_config_call: 'x', npm_config_local_prefix: '/x' };
  expect(inheritedByChildren({ ...invocation, npm_config_ignore_scripts: 'true' })).toEqual({
    npm_config_ignore_scripts: 'true',
  });
});
