import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';

const fromFile = 'docker load reads an image from a file.';

/** Docker passes on the error texts of the registry or of Go's network library. */
const reasons: readonly { readonly pattern: RegExp; readonly what: string; readonly hint: string }[] = [
  {
    pattern: /pull access denied|repository does not exist|requested access to the resource is denied|unauthorized/i,
    what: 'its registry has no public image of that name',
    hint: `If the image is private, log in: docker login. ${fromFile}`,
  },
  {
    pattern: /manifest( for .*)? (unknown|not found)|not found: manifest/i,
    what: 'its registry does not have that version of the image',
    hint: fromFile,
  },
  {
    pattern: /no matching manifest/i,
    what: "its registry has no image for this machine's processor",
    hint: fromFile,
  },
  {
    pattern: /toomanyrequests|too many requests|rate limit/i,
    what: 'its registry limits pulls from this address for now',
    hint: `Try again later, or log in: docker login. ${fromFile}`,
  },
  {
    pattern:
      /no such host|dial tcp|i\/o timeout|connection refused|network is unreachable|TLS handshake|context deadline|Client\.Timeout/i,
    what: 'Docker does not reach its registry',
    hint: `Check this machine's internet access and Docker's proxy. Without internet: ${fromFile}`,
  },
  { pattern: /x509|certificate/i, what: 'Docker does not trust the certificate of its registry', hint: fromFile },
  {
    pattern: /invalid reference format|invalid tag/i,
    what: 'that is not the name of an image',
    hint: 'Write it as name:version.',
  },
];

/** Why an image could not be pulled, and the repair. `field` is the field of svc.yaml that names it. */
export function pullFailure(name: string, field: string, cause: unknown): SvcError {
  const begin = `The image "${name}" is missing and could not be pulled`;
  if (isDiskFull(cause)) {
    return new SvcError('unavailable', `${begin}: the disk of Docker is full.`, { hint: makeRoom, cause });
  }
  const said = wordsOf(cause);
  const known = reasons.find(({ pattern }) => pattern.test(said));
  const hint = `Is ${field} in svc.yaml right? ${known?.hint ?? fromFile}`;
  return new SvcError('unavailable', `${begin}: ${known?.what ?? said}.`, { hint, cause });
}
