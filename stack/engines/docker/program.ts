import { join } from 'node:path';
import { versionInImage } from '../../machine/check-program.ts';
import type { ConfigurationFacts, Part } from '../../parts/part.ts';
import type { Definition } from '../../settings/definition.ts';
import { givenDir } from './site.ts';

/** Facts of the daemon and this machine that the plan of a container depends on. */
export interface Facts extends Omit<ConfigurationFacts, 'version'> {
  /** The user in the containers, as `uid:gid`. */
  readonly user: string;
  /** The name of the service image. */
  readonly serviceImage: string;
  /** The ids of images by name. */
  readonly images: Readonly<Record<string, string>>;
  /** Whether the parts run for one command, without the rest of the platform. Docker restarts none of them then. */
  readonly runsAlone: boolean;
  /** A hash of the content of a file. */
  readonly fingerprintOf: (file: string) => string;
}

/** The folder of the built code in the service image. */
export const dist = '/svc/dist';

/** What runs in the container of a part. `check` is the command inside that asks whether the part is ready. */
export function programOf({ program, ready, variables }: Part, facts: Facts, { images }: Definition) {
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

/**
 * The health check that Docker runs: the check of the part, which also ends a part that hangs. Docker restarts a container that ended, but
 * not an unhealthy one.
 */
export function watching(check: readonly string[]): readonly string[] {
  return ['CMD', ...watch, ...check];
}

/** The check of the part, from the health check of its container. */
export function checkIn(test: readonly string[] = []): readonly string[] {
  return test.slice(1 + watch.length);
}

/** Checks in a row without any answer. With the pauses between them this takes most of a minute. */
const silencesMax = 3;
/** Less than half of Docker's own deadline, for a busy machine. A check that Docker ends cannot count. */
const patienceSeconds = 4;

/**
 * A part that reports that it is not ready is not silent: curl, wget and our check use the same words. Silence counts only after the first
 * answer, because a start may take long. /tmp is empty after each start. Process 1 is Docker's init, which ends with the part.
 */
const script = `
said=$(timeout ${patienceSeconds} "$@" 2>&1)
code=$?
case "$code $said" in
  0\\ * | *'returned error'*) echo 0 >/tmp/.silences ;;
  *)
    if read -r silences 2>/dev/null </tmp/.silences; then
      silences=$((silences + 1))
      echo "$silences" >/tmp/.silences
      if [ "$silences" -ge ${silencesMax} ]; then kill -9 -1; fi
    fi
    ;;
esac
printf '%s\\n' "$said"
exit "$code"
`;

const watch = ['sh', '-c', script, 'watch'] as const;
