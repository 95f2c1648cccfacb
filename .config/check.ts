import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boundaryViolations } from './boundaries/boundaries.ts';
import { machineTraces } from './boundaries/machine-traces.ts';
import { formatViolation, type Violation } from './boundaries/violation.ts';
import { operationsProblem } from './operations/typed-operations.ts';

/**
 * `npm run check`: types, lint and format, GraphQL operations, boundaries, traces of a machine. All checks run, and a
 * warning fails like an error.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const checks: Readonly<Record<string, () => string | Promise<string>>> = {
  types: () => tool('tsc', ['--project', '.', '--pretty', 'false']),
  'types of the pages': () => tool('tsc', ['--project', 'services/frontend', '--pretty', 'false']),
  'lint and format': () =>
    tool('biome', ['check', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off', '.']),
  'GraphQL operations': () => operationsProblem(root),
  boundaries: () => formatAll(boundaryViolations(root)),
  'traces of a machine': () => formatAll(machineTraces(root)),
};

for (const [name, check] of Object.entries(checks)) {
  const started = performance.now();
  const complaint = await Promise.try(check).catch((error: Error) => error.message);
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  process.stdout.write(
    complaint === '' ? `ok     ${name} (${time})\n` : `FAILED ${name} (${time})\n${complaint.trimEnd()}\n`,
  );
  if (complaint !== '') process.exitCode = 1;
}

/** The output of a failed tool; empty if it succeeds. */
function tool(name: string, args: readonly string[]): Promise<string> {
  const bin = join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  const child = spawn(join(bin, name), args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? '' : output.trim() || `${name} ended with exit code ${code}`));
  });
}

function formatAll(violations: readonly Violation[]): string {
  return violations.map(formatViolation).join('\n');
}
