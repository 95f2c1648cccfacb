import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';

const login = z.object({ auth: z.string().optional(), identitytoken: z.string().optional() });
const config = z.object({
  currentContext: z.string().optional(),
  /** Logins that `docker login` wrote into the file itself, by registry. */
  auths: z.record(z.string(), login).optional(),
  /** The program that keeps logins, for all registries and for single ones. */
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
export type DockerConfig = z.infer<typeof config>;

/** The folder in which the program `docker` keeps its contexts and its file config.json. */
export function dockerFolder(env: EnvRecord): string {
  return env.DOCKER_CONFIG ?? join(env.HOME ?? '', '.docker');
}

/** `config.json` of the program `docker`; empty where the file is missing or not valid. */
export function readDockerConfig(env: EnvRecord): DockerConfig {
  return config.safeParse(readJsonIn(join(dockerFolder(env), 'config.json'))).data ?? {};
}

export function readJsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
