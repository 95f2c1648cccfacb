import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Runs an attacker's program with the lowest priority; it reads its task from standard input and prints the outcome.
 * Platform, victim and attacker share two cores, and a test measures the attack's cost to the platform, not the
 * attacker's own work.
 */
export async function runAttacker<Outcome>(program: string, attack: object): Promise<Outcome> {
  const child = spawn('nice', ['-n', '19', process.execPath, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(attack));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`the attack ended with ${code}`);
  return JSON.parse(output);
}
