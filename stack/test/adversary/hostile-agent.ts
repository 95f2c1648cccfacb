import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { HttpAttack, Outcome, Target } from './http-attacks.ts';

const main = fileURLToPath(new URL('http-attack-main.ts', import.meta.url));
const outcome = z.record(z.string(), z.number());

/**
 * Attacks from a process of its own, with the lowest priority: the platform, the victim and the attacker share two cores, and the test asks what
 * the requests cost the platform, not what the attacker's own work costs the machine.
 */
export async function attack(name: HttpAttack, target: Target): Promise<Outcome> {
  const child = spawn('nice', ['-n', '19', process.execPath, main], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ attack: name, target }));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`the attack ended with ${code}`);
  return outcome.parse(JSON.parse(said));
}
