import { join } from 'node:path';
import { versionInImage } from '../../machine/check-program.ts';
import type { Part } from '../../parts/part.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Facts } from './facts.ts';
import type { GivenFile } from './given-files.ts';
import { givenDir } from './site.ts';

/** The program of a container. */
export interface ContainerProgram {
  readonly image: string;
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly configuration: readonly GivenFile[];
  /** The command inside the container that asks whether the part is ready. */
  readonly check: readonly string[];
}

/** The folder of the built code in the service image. */
export const dist = '/svc/dist';

export function programOf({ program, ready, variables }: Part, facts: Facts, { images }: Definition): ContainerProgram {
  if (program.kind === 'service') {
    return {
      image: facts.serviceImage,
      entrypoint: ['node', `${dist}/services/${program.service}/main.js`],
      env: variables,
      configuration: [],
      check: ['node', `${dist}/stack/engines/docker/check-ready/main.js`, ready.url],
    };
  }
  const { command, args, environment, configuration, ask } = program;
  const image = images[program.image];
  const text = configuration.write({ ...facts, version: versionInImage(image) });
  return {
    image,
    entrypoint: [command, ...args(join(givenDir, configuration.name))],
    env: environment,
    configuration: [{ name: configuration.name, content: { text } }],
    check: ask(ready.url),
  };
}

/** The images of a plan's programs, by their names in svc.yaml. */
export function foreignImagesOf(parts: readonly Part[]): ReadonlySet<Exclude<keyof Definition['images'], 'base'>> {
  return new Set(parts.flatMap(({ program }) => (program.kind === 'foreign' ? [program.image] : [])));
}
