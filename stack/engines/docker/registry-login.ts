import { z } from 'zod';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { parseJson } from '../../machine/parse-json.ts';
import { type DockerConfig, readDockerConfig } from './daemon-address.ts';

/** What Docker hands to a registry with a request for an image. */
type RegistryLogin =
  | { readonly username: string; readonly password: string; readonly serveraddress: string }
  | { readonly identitytoken: string; readonly serveraddress: string };

/** Under this address `docker login` keeps the login at Docker Hub. */
const dockerHub = 'https://index.docker.io/v1/';
const helperTimeoutMs = 20_000;

/** The login that `docker login` stored for the registry of an image; null without one. Throws where the login cannot be read. */
export async function findRegistryLogin(image: string, env: EnvRecord): Promise<RegistryLogin | null> {
  const config = readDockerConfig(env);
  const registry = registryOf(image);
  const helper = config.credHelpers?.[registry] ?? config.credsStore ?? '';
  const asked = helper === '' ? null : await askHelper(helper, registry, env);
  return asked ?? loginIn(config, registry);
}

/** The first part of a name is a registry where it is a host name; a name without one is an image of Docker Hub. */
export function registryOf(image: string): string {
  const [first = '', ...path] = image.split('/');
  const isHost = path.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return !isHost || first === 'docker.io' || first === 'index.docker.io' ? dockerHub : first;
}

function loginIn({ auths = {} }: DockerConfig, registry: string): RegistryLogin | null {
  const { auth = '', identitytoken = '' } = auths[registry] ?? auths[`https://${registry}`] ?? {};
  if (identitytoken !== '') return { identitytoken, serveraddress: registry };
  const [username = '', ...password] = Buffer.from(auth, 'base64').toString().split(':');
  return username === '' ? null : { username, password: password.join(':'), serveraddress: registry };
}

const kept = z.object({ Username: z.string(), Secret: z.string() });
/** The words of a credential helper that has no login for the registry. */
const noLogin = /credentials not found/i;

/** A credential helper is a program that reads the registry's address and prints the login. */
async function askHelper(helper: string, registry: string, env: EnvRecord): Promise<RegistryLogin | null> {
  const name = `docker-credential-${helper}`;
  const answer = await askProgram(name, ['get'], { timeoutMs: helperTimeoutMs, env, input: registry });
  if (answer.failed && noLogin.test(answer.stdout + answer.stderr)) return null;
  const parsed = kept.safeParse(parseJson(answer.stdout)).data;
  if (answer.failed || parsed === undefined) {
    throw new SvcError('unavailable', `The login for "${registry}" could not be read: "${name}" printed none.`, {
      hint: 'Log in again: docker login. Or correct credsStore and credHelpers in the config.json of Docker.',
    });
  }
  const { Username: username, Secret: secret } = parsed;
  return username === '<token>'
    ? { identitytoken: secret, serveraddress: registry }
    : { username, password: secret, serveraddress: registry };
}
