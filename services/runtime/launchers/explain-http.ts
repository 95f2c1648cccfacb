import type { IncomingMessage } from 'node:http';
import type { Reason } from '../../contracts/bus/messages.ts';
import { needsAuthorizationCode } from '../../contracts/reason-codes.ts';
import { inWords } from '../../contracts/system-words.ts';
import type { AddressRefused } from '../../kit/addresses/address-refused.ts';
import { findChallenge } from './challenge.ts';

/** Why a remote MCP server could not be reached at all; null when only this request may have failed. */
export function explainNetworkError(host: string, error: unknown): Reason | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return {
      code: 'not_tls',
      message: `Cannot reach ${host}: it speaks http, not https.`,
      repair: 'Change the URL to http://, or to the port where it speaks https.',
    };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|HOSTNAME_MISMATCH|ALTNAME|EPROTO|ERR_SSL/.test(code)) {
    return {
      code: 'certificate_not_trusted',
      message: `The TLS connection to ${host} failed: ${inWords(error)}.`,
      repair: 'Check the URL and the certificate; give the runtime a private authority by NODE_EXTRA_CA_CERTS.',
    };
  }
  const known = unreachable[code];
  if (known === undefined) return null;
  return { code: known.code, message: `Cannot reach ${host}: ${known.what}.`, repair: known.repair };
}

/** Members read it, so it contains no details of the network. */
export function explainAddress(name: string, { what }: AddressRefused): Reason {
  return {
    code: 'address_refused',
    message: `The URL of the MCP server "${name}" leads to ${what}. The URL of a member may lead to public addresses and to those in runtime.allowedAddresses.`,
    repair:
      'Check the host in the URL. An operator can allow the address with runtime.allowedAddresses in svc.yaml (MCP_SERVER_ALLOWED_ADDRESSES of a runtime elsewhere), or set the URL: svc apply.',
  };
}

/**
 * Why a remote MCP server refuses requests. Members and agents read it, so it never quotes the response: only the
 * runtime's log does.
 */
export function explainStatus(host: string, status: number): Reason {
  const { code, what, repair } = byStatus(status);
  return {
    code,
    message: `${host} answered with HTTP ${status}: ${what}.`,
    repair: `${repair} Operators find the answer in the log of the runtime: svc logs runtime.`,
  };
}

/** Like `explainStatus`, with the claims of a challenge (RFC 9728 §5.1). */
export function explainRefusal(host: string, { statusCode = 0, headers }: RefusedResponse): Reason {
  const reason = explainStatus(host, statusCode);
  return statusCode === 401 ? { ...reason, challenge: findChallenge(headers['www-authenticate']) } : reason;
}

type RefusedResponse = Pick<IncomingMessage, 'statusCode' | 'headers'>;

/** The older transport lets an MCP server name the address for messages. */
export function explainForeignAddress(host: string): Reason {
  return {
    code: 'address_foreign',
    message: `${host} named an address of another origin for messages. The headers of the MCP server are for its own origin only.`,
    repair:
      'Correct the MCP server, or the proxy before it: the event "endpoint" must name an address of the same origin.',
  };
}

/** With HTTP+SSE, the session ends with its stream. */
export function explainClosedStream(host: string): Reason {
  return {
    code: 'stream_closed',
    message: `${host} closed its stream of events.`,
    repair:
      'It is restarted automatically; if this happens again, read the log of the MCP server, and check the proxy before it.',
  };
}

interface Cause {
  readonly code: string;
  readonly what: string;
  readonly repair: string;
}

const notThere = 'Check that the MCP server runs, the port in its URL, and the firewall between.';

const unreachable: Readonly<Record<string, Cause>> = {
  ENOTFOUND: { code: 'address_unknown', what: 'its name cannot be resolved', repair: 'Check the host in the URL.' },
  EAI_AGAIN: { code: 'address_unknown', what: 'names cannot be resolved', repair: 'Check the DNS of the runtime.' },
  ECONNREFUSED: { code: 'not_reachable', what: 'connection refused', repair: notThere },
  EHOSTUNREACH: { code: 'not_reachable', what: 'host unreachable', repair: notThere },
  ENETUNREACH: { code: 'not_reachable', what: 'host unreachable', repair: notThere },
  ETIMEDOUT: { code: 'not_reachable', what: 'it does not answer', repair: notThere },
};

function byStatus(status: number): Cause {
  if (status === 401) {
    return {
      code: needsAuthorizationCode,
      what: 'it needs authorization',
      repair: 'Connect it: Workspace settings > Integrations. Or set a valid Authorization header for the MCP server.',
    };
  }
  if (status === 403) {
    return {
      code: 'forbidden',
      what: 'the credential is not allowed to use it',
      repair: 'Give the credential in its headers the required rights.',
    };
  }
  if (status === 101) {
    return {
      code: 'not_mcp',
      what: 'it requires another protocol, such as WebSocket',
      repair: 'Change the URL to one where it speaks Streamable HTTP.',
    };
  }
  if (status >= 300 && status < 400) {
    return {
      code: 'redirected',
      what: 'it redirects to another address',
      repair:
        'Change the URL to the address it redirects to; redirects are not followed, so that headers stay with their host.',
    };
  }
  if (status === 404 || status === 405 || status === 406) {
    return {
      code: 'not_mcp',
      what: 'this URL has no MCP server, neither with Streamable HTTP nor with HTTP+SSE',
      repair: 'Check the path of the URL; it often ends in /mcp or /sse.',
    };
  }
  if (status >= 500) {
    return { code: 'failing', what: 'it has an internal error', repair: 'Read the log of the MCP server.' };
  }
  return { code: 'handshake_refused', what: 'it refused the request', repair: 'Check the URL and the headers.' };
}
