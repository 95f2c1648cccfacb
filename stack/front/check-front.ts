import { checkProgram } from '../check-program.ts';
import type { Definition } from '../definition/definition.ts';
import { frontOf } from './front-of.ts';

/** Refuses, before anything is started, a front that could not be had. */
export async function checkFront(definition: Definition, path: string | undefined): Promise<void> {
  const front = frontOf(definition);
  if (front === null) return;
  await checkProgram(
    {
      name: 'caddy',
      neededBy: front === 'one-host' ? 'public.host' : 'replicas.remote-mcp above 1',
      oldest: '2.6',
      askVersion: ['version'],
      howToInstall:
        'Install it: the package caddy of your system, or go install github.com/caddyserver/caddy/v2/cmd/caddy@latest.',
    },
    path,
  );
}
