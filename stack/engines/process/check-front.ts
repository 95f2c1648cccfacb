import { checkProgram } from '../../machine/check-program.ts';
import { type Definition, hasFront, hasOneHost, sharedServices } from '../../settings/definition.ts';

/** Refuses a front whose program is missing or too old, before anything starts. */
export async function checkFront(definition: Definition, path: string | undefined): Promise<void> {
  if (!hasFront(definition)) return;
  await checkProgram(
    {
      name: 'caddy',
      neededBy: hasOneHost(definition) ? 'public.host' : `replicas.${sharedServices(definition)[0]} above 1`,
      oldest: '2.6',
      askVersion: ['version'],
      howToInstall:
        'Install it: the package caddy of your system, or go install github.com/caddyserver/caddy/v2/cmd/caddy@latest.',
    },
    path,
  );
}
