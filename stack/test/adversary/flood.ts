import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { WireLogin } from './wire-client.ts';

export interface Flood {
  readonly port: number;
  readonly login: WireLogin;
  /** One message as bytes on the wire, in base64. */
  readonly message: string;
  readonly count: number;
}

const flooded = z.object({ sent: z.number(), tookMs: z.number(), closed: z.boolean(), errors: z.array(z.string()) });
export type Flooded = z.infer<typeof flooded>;

const main = fileURLToPath(new URL('flood-main.ts', import.meta.url));

/**
 * Runs the flood in a process of its own, with the lowest priority: the platform, the victim and the attacker share two cores, and the test asks
 * what the messages cost the platform, not what the attacker's own work costs the machine.
 */
export async function flood(options: Flood): Promise<Flooded> {
  const child = spawn('nice', ['-n', '19', process.execPath, main], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(options));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`the flood ended with ${code}`);
  return flooded.parse(JSON.parse(said));
}
