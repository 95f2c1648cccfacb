import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';

const systemKey = newKey('system').reveal();
const runtimeKey = newKey('runtime').reveal();
const platformRuntime = { SYSTEM_KEY: systemKey, RUNTIME_NAME: 'cloud' };
const remoteMcp = { SYSTEM_KEY: systemKey, REMOTE_PORT: '0' };

interface Boot {
  readonly what: string;
  readonly service: 'backend' | 'remote-mcp' | 'runtime';
  readonly env: Readonly<Record<string, string>>;
  readonly says: readonly RegExp[];
}

/** Part 7 of the specification, rows 6 to 9, and part 5, "Component identities". */
const boots: readonly Boot[] = [
  {
    what: '7.6 a runtime with USER_KEY',
    service: 'runtime',
    env: { ...platformRuntime, USER_KEY: 'x' },
    says: [/USER_KEY is rejected/],
  },
  {
    what: '7.6 a runtime with MCP_REMOTE_ENABLED, whatever it says',
    service: 'runtime',
    env: { ...platformRuntime, MCP_REMOTE_ENABLED: 'false' },
    says: [/MCP_REMOTE_ENABLED is rejected/],
  },
  {
    what: '7.7 remote-mcp with RUNTIME_KEY',
    service: 'remote-mcp',
    env: { ...remoteMcp, RUNTIME_KEY: runtimeKey },
    says: [/RUNTIME_KEY is rejected/],
  },
  {
    what: '7.7 remote-mcp with RUNTIME_NAME',
    service: 'remote-mcp',
    env: { ...remoteMcp, RUNTIME_NAME: 'cloud' },
    says: [/RUNTIME_NAME is rejected/],
  },
  {
    what: '7.8 a runtime without an identity',
    service: 'runtime',
    env: {},
    says: [/RUNTIME_KEY is required, or SYSTEM_KEY with RUNTIME_NAME/],
  },
  {
    what: '7.8 a runtime with half an identity',
    service: 'runtime',
    env: { SYSTEM_KEY: systemKey },
    says: [/RUNTIME_NAME is required/],
  },
  {
    what: '7.8 a runtime with two identities',
    service: 'runtime',
    env: { ...platformRuntime, RUNTIME_KEY: runtimeKey },
    says: [/RUNTIME_KEY .*SYSTEM_KEY/],
  },
  {
    what: '7.9 the backend without ENCRYPTION_KEY, and all else that it lacks',
    service: 'backend',
    env: {},
    says: [/ENCRYPTION_KEY is required/, /JWT_PRIVATE_KEY_PATH is required/, /JWT_PUBLIC_KEY_PATH is required/],
  },
];

test.concurrent.each(boots.map((row) => [row.what, row] as const))(
  '%s does not start, with the reason',
  async (_what, { service, env, says }) => {
    const { code, stderr } = await boot(service, env);
    expect(code).toBe(1);
    for (const text of says) expect(stderr).toMatch(text);
    for (const secret of [systemKey, runtimeKey]) expect(stderr).not.toContain(secret);
  },
);

/** The process of a service as the build makes it. */
function boot(service: Boot['service'], env: Boot['env']) {
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
