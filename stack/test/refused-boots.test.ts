import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';

const systemKey = newKey('system').reveal();
const runtimeKey = newKey('runtime').reveal();
const platformRuntime = { SYSTEM_KEY: systemKey, RUNTIME_NAME: 'cloud' };
const remoteMcp = { SYSTEM_KEY: systemKey, REMOTE_PORT: '0' };

type Service = 'backend' | 'remote-mcp' | 'runtime';

/** Part 7 of the specification, rows 6 to 9: one of each. All that is refused is in contracts/env/check.test.ts. */
test.concurrent.each<readonly [what: string, Service, env: Readonly<Record<string, string>>, says: readonly RegExp[]]>([
  ['7.6 a runtime with USER_KEY', 'runtime', { ...platformRuntime, USER_KEY: 'x' }, [/USER_KEY is rejected/]],
  [
    '7.7 remote-mcp with RUNTIME_KEY',
    'remote-mcp',
    { ...remoteMcp, RUNTIME_KEY: runtimeKey },
    [/RUNTIME_KEY is rejected/],
  ],
  ['7.8 a runtime without an identity', 'runtime', {}, [/RUNTIME_KEY is required, or SYSTEM_KEY with RUNTIME_NAME/]],
  [
    '7.9 the backend without ENCRYPTION_KEY, and all else that it lacks',
    'backend',
    {},
    [/ENCRYPTION_KEY is required/, /JWT_PRIVATE_KEY_PATH is required/, /JWT_PUBLIC_KEY_PATH is required/],
  ],
])('%s does not start, with the reason', async (_what, service, env, says) => {
  const { code, stderr } = await boot(service, env);
  expect(code).toBe(1);
  for (const text of says) expect(stderr).toMatch(text);
  for (const secret of [systemKey, runtimeKey]) expect(stderr).not.toContain(secret);
});

/** The process of a service as the build makes it. */
function boot(service: Service, env: Readonly<Record<string, string>>) {
  const program = join(import.meta.dirname, '../../dist/services', service, 'main.js');
  const child = spawn(process.execPath, [program], { env: { BUS_SERVERS: 'inproc:', ...env }, stdio: 'pipe' });
  return new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve, reject) => {
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stderr }));
  });
}
