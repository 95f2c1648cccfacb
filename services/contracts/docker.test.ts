import { expect, test } from 'vitest';
import { explainDocker, usersOf } from './docker.ts';

const failed = (code: string | undefined, message = 'failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  [failed('EACCES'), 'forbidden', /denies access to its socket "s"/, /usermod -aG docker/],
  [failed('ENOENT'), 'unavailable', /is not running: there is no socket "s"/, /start docker/],
  [failed('ECONNREFUSED'), 'unavailable', /is stopped: .* refuses connections/, /start docker/],
  [failed('ETIMEDOUT'), 'unavailable', /did not answer in time/, /docker info/],
  [
    failed(undefined, '(HTTP code 500) server error - write /data/link: no space left on device. '),
    'unavailable',
    /^the disk of Docker at "s" is full$/,
    /docker system df/,
  ],
  [
    failed(undefined, '(HTTP code 500) server error - something else. '),
    'unavailable',
    /gives an unexpected answer: something else$/,
    /docker info/,
  ],
])('%s is reported with its repair', (error, code, what, repair) => {
  const told = explainDocker(error, '"s"');
  expect(told.code).toBe(code);
  expect(told.what).toMatch(what);
  expect(told.repair).toMatch(repair);
});

test.each([
  [['name=seccomp,profile=default', 'name=rootless'], 'rootless'],
  [['name=userns'], 'remapped'],
  [['name=seccomp,profile=default'], 'same'],
])('users of a daemon with %j', (options, users) => {
  expect(usersOf(options)).toBe(users);
});
