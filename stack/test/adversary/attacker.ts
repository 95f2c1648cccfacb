import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/**
 * Runs a program of the attacker, which reads what to do from standard input and prints the outcome. It has the lowest priority: the platform, the
 * victim and the attacker share two cores, and a test asks what the attack costs the platform, not what the attacker's own work costs the machine.
 */
export async function runAttacker<Outcome>(program: string, attack: object): Promise<Outcome> {
  const child = spawn('nice', ['-n', '19', process.execPath, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(attack));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`the attack ended with ${code}`);
  return JSON.parse(said);
}
