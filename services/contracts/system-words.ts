import { SvcError } from './errors.ts';

/** The system's error in words that follow a failure: "…: no space is left on the disk". Null for any other error. */
export function systemWords(error: unknown): string | null {
  // The error has its own message, whatever its cause.
  if (error instanceof SvcError) return null;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = words[code];
  if (known !== undefined) return known;
  // fetch and other wrappers only say that something else failed.
  return error instanceof Error && error.cause !== undefined ? systemWords(error.cause) : null;
}

/** The system's words, or else the error's own. */
export function inWords(error: unknown): string {
  return systemWords(error) ?? (error instanceof Error ? error.message : String(error));
}

/** For messages that stand alone: the file or address comes first. */
export function inWordsAlone(error: unknown): string {
  const about = systemWords(error) === null ? null : aboutOf(error);
  return about === null ? inWords(error) : `"${about}": ${inWords(error)}`;
}

/** The file or address that the system names. */
function aboutOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('path' in error) return String(error.path);
  if ('address' in error) return 'port' in error ? `${error.address}:${error.port}` : String(error.address);
  return 'hostname' in error ? String(error.hostname) : aboutOf(error.cause);
}

const mayNot = 'permission denied';
const noWay = 'host unreachable';
const ended = 'the connection was closed by the other side';
const untrusted = 'its certificate is signed by an unknown authority';

const words: Readonly<Record<string, string>> = {
  EACCES: mayNot,
  EPERM: mayNot,
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is a file, and a folder is needed',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENOTEMPTY: 'the folder is not empty',
  ELOOP: 'its symbolic links form a circle',
  ENAMETOOLONG: 'its name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota of this user is used up',
  EFBIG: 'the file would exceed the largest size',
  EIO: 'the disk could not be read or written',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is a running program',
  EXDEV: 'it is on another file system',
  EMFILE: 'this process has too many open files',
  ENFILE: 'this machine has too many open files',
  ENOMEM: 'no memory is left',
  EAGAIN: 'the machine has reached a limit, try again',
  ENOEXEC: 'it is not a program for this machine',
  EADDRINUSE: 'another program uses that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine has no addresses of that family',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: ended,
  ECONNABORTED: ended,
  EPIPE: ended,
  UND_ERR_SOCKET: ended,
  EHOSTUNREACH: noWay,
  ENETUNREACH: noWay,
  EHOSTDOWN: noWay,
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'names cannot be resolved at the moment',
  EPROTO: 'it uses another protocol',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it has a self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};
