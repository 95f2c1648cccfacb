import { SvcError } from './errors.ts';

/** What the system refused, in words that follow what could not be done: "…: no room is left on the disk". Null for what it does not say. */
export function systemWords(error: unknown): string | null {
  // It has words of its own, whatever was behind it.
  if (error instanceof SvcError) return null;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = words[code];
  if (known !== undefined) return known;
  // What fetch throws, and whatever else says only that something else failed.
  return error instanceof Error && error.cause !== undefined ? systemWords(error.cause) : null;
}

/** In the system's words or in its own. */
export function inWords(error: unknown): string {
  return systemWords(error) ?? (error instanceof Error ? error.message : String(error));
}

/** For who reads nothing else: what it was about stands before it. */
export function inWordsAlone(error: unknown): string {
  const about = systemWords(error) === null ? null : aboutOf(error);
  return about === null ? inWords(error) : `"${about}": ${inWords(error)}`;
}

/** The file or the address that the system names. */
function aboutOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('path' in error) return String(error.path);
  if ('address' in error) return 'port' in error ? `${error.address}:${error.port}` : String(error.address);
  return 'hostname' in error ? String(error.hostname) : aboutOf(error.cause);
}

const mayNot = 'this user may not do that';
const noWay = 'no way leads there';
const ended = 'the connection was ended in between';
const untrusted = 'nobody who is known here vouches for its certificate';

const words: Readonly<Record<string, string>> = {
  EACCES: mayNot,
  EPERM: mayNot,
  ENOENT: 'it is not there',
  ENOTDIR: 'a file is where a folder is needed',
  EISDIR: 'it is a folder',
  EEXIST: 'it is there already',
  ENOTEMPTY: 'the folder is not empty',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is longer than a name may be',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no room is left on the disk',
  EDQUOT: 'no room is left for this user',
  EFBIG: 'a file would be larger than files may be',
  EIO: 'the disk could not be read or written',
  EBUSY: 'something else uses it',
  ETXTBSY: 'it runs just now',
  EXDEV: 'it lies on another file system',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  ENOMEM: 'no memory is left',
  EAGAIN: 'the machine has no room for more',
  ENOEXEC: 'it is no program for this machine',
  EADDRINUSE: 'another program has that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine has no addresses of that kind',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: ended,
  ECONNABORTED: ended,
  EPIPE: ended,
  UND_ERR_SOCKET: ended,
  EHOSTUNREACH: noWay,
  ENETUNREACH: noWay,
  EHOSTDOWN: noWay,
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'names cannot be looked up just now',
  EPROTO: 'it speaks another protocol',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it has a self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};
