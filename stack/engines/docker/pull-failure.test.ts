import { expect, test } from 'vitest';
import { pullFailure } from './pull-failure.ts';

test.each([
  [
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io on 10.0.0.1:53: no such host',
    'Docker does not reach its registry',
    'proxy',
  ],
  [
    "pull access denied for natz, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
    'its registry has no public image of that name',
    'docker login',
  ],
  ['manifest for nats:9.9.9 not found: manifest unknown', 'its registry does not have that version of the image', ''],
  ['no matching manifest for linux/riscv64 in the manifest list entries', "for this machine's processor", ''],
  ['toomanyrequests: You have reached your pull rate limit.', 'limits pulls from this address for now', 'later'],
  ['write /var/lib/docker/tmp/x: no space left on device', 'the disk of Docker is full', 'docker system df'],
  ['something of its own', 'something of its own', 'docker load'],
])('%s', (said, what, hint) => {
  const error = pullFailure('nats:9.9.9', 'images.nats', new Error(`(HTTP code 404) unexpected - ${said}`));
  expect(error).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The image "nats:9.9.9" is missing and could not be pulled: /),
    hint: expect.stringContaining(hint),
  });
  expect(error.message).toContain(what);
});
