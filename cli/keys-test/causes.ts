import { describeClocks, setClock, timeOfDate } from '../../services/contracts/clocks.ts';
import { type ErrorCode, SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { keyPrefixes, parseKey } from '../../services/contracts/keys.ts';
import type { Secret } from '../../services/contracts/secret.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { type Answer, messageOf } from './exchange.ts';

/** The reason why a rung broke, and its repair. */
export interface Cause {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** A fault that shows in the key's own text comes first. Only the platform knows the others. */
export function refusalOf(key: Secret, answer: Answer): Cause {
  const fault = faultInText(key);
  if (fault !== null) return fault;
  const { message = 'The platform does not know this key.', hint = 'Create a new one with "svc keys create NAME".' } =
    saidIn(answer);
  const thereMs = timeOfDate(answer.headers.date);
  const clocks = thereMs === null ? null : describeClocks({ hereMs: Date.now(), thereMs, whose: "the platform's" });
  if (clocks === null || !/expir/.test(message)) return { code: 'unauthenticated', message, hint };
  // Its expiry may have been chosen by the other clock.
  return { code: 'unauthenticated', message: `${message} ${clocks}`, hint: `${hint} ${setClock}` };
}

/** Why the text cannot be the key of an agent; null if it can. */
export function faultInText(key: Secret): Cause | null {
  const parsed = parseKey(key.reveal());
  if (!parsed.ok) return { code: 'unauthenticated', ...textRefusals[parsed.refusal] };
  if (parsed.kind === 'runtime' || parsed.kind === 'system') {
    return {
      code: 'unauthenticated',
      message: `This is the key of a ${parsed.kind}, not of an agent.`,
      hint: 'Agents use keys that start with SVA_: create one with "svc keys create NAME".',
    };
  }
  return null;
}

/** A placeholder copied from an example, or text that no header can contain. */
export function unsendable(key: Secret): Cause {
  const text = key.reveal();
  if (text === '') return { code: 'unauthenticated', ...textRefusals.missing };
  const isExample = /[…<>]|\.\.\./.test(text);
  return {
    code: 'unauthenticated',
    message: isExample
      ? 'This is the placeholder of an example, not a key.'
      : 'This is not a key: it has spaces or other characters that a key cannot have.',
    hint: isExample
      ? `Replace … with your key. It starts with ${keyPrefixes.user}, and "svc keys create NAME" prints a new one.`
      : textRefusals.malformed.hint,
  };
}

const textRefusals = {
  missing: { message: 'The key is empty.', hint: 'Give it in SVC_API_KEY, by --key-file, or on stdin.' },
  retired: {
    message: 'Keys that start with WSK_ are retired and refused everywhere.',
    hint: 'Create a user key with "svc keys create NAME".',
  },
  unknown_prefix: {
    message: 'This is not a key of the platform: user keys start with SVA_ (older ones with USK).',
    hint: 'Copy the key again, from its first character.',
  },
  malformed: {
    message: 'The key has the wrong length or characters.',
    hint: 'Copy the whole key again, without quotes or spaces.',
  },
  checksum: {
    message: 'The key has a typo: its checksum does not match.',
    hint: 'Copy the key again; it was never valid in this form.',
  },
};

export function forbidden(answer: Answer): Cause {
  return {
    code: 'forbidden',
    message: 'The key is valid, but the platform answered 403.',
    hint: 'Check skillIds and roleIds in the URL, and that the workspace is not suspended.',
    ...saidIn(answer),
  };
}

/** A mistake in the parameters of the address, in the words of the platform; null if it is another answer. */
export function wrongAddress(answer: Answer): Cause | null {
  const { message, hint } = saidIn(answer);
  if (answer.status !== 400 || message === undefined || hint === undefined) return null;
  return { code: 'invalid_input', message, hint };
}

/** The words of the platform's own refusal. Before a message is read, an older platform answers without JSON-RPC. */
function saidIn(answer: Answer): { readonly message?: string; readonly hint?: string } {
  const said = messageOf(answer)?.error;
  if (!isObject(said)) return {};
  const { message } = said;
  const hint = isObject(said.data) ? said.data.hint : said.hint;
  return { ...(typeof message === 'string' ? { message } : {}), ...(typeof hint === 'string' ? { hint } : {}) };
}

/** An address that admits every key, or none, proves nothing about a key. */
export function asksForNoKey(url: URL, answer: Answer): Cause {
  const location = answer.headers.location;
  if (answer.status >= 300 && answer.status < 400 && typeof location === 'string') {
    return {
      code: 'unavailable',
      message: `${url.href} redirects to another address.`,
      hint: `Use that address: --url ${new URL(location, url).href}`,
    };
  }
  if (messageOf(answer)?.jsonrpc === '2.0') {
    return {
      code: 'unavailable',
      message: `${url.href} accepts requests without a key.`,
      hint: 'It is another MCP server, not this platform. "svc status" prints the address of the platform.',
    };
  }
  return notMcp(url, answer);
}

export const unchecked: Cause = {
  code: 'unavailable',
  message: 'the platform answered 503.',
  hint: 'The backend is not reachable. See "svc status" and "svc logs backend", then try again.',
};

export function notMcp(url: URL, answer: Answer): Cause {
  const isMcpPath = url.pathname.endsWith(mcpPath);
  return {
    code: 'unavailable',
    message: isMcpPath
      ? `${url.href} did not answer as /mcp does (status ${answer.status}).`
      : `this address is not /mcp: ${url.href} (status ${answer.status}).`,
    hint: isMcpPath
      ? `"svc status" prints the address for agents, under mcp. It answered: ${excerpt(answer.body)}`
      : `Try --url ${new URL(mcpPath, url).href}`,
  };
}

const mcpPath = '/mcp';

/** Connection errors of node, as a cause and a repair. */
export function causeOf(error: unknown, url: URL): Cause {
  if (error instanceof SvcError)
    return { code: error.code, message: error.message, hint: error.hint ?? 'See "svc status".' };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  if (code === 'ECONNREFUSED') {
    return {
      code: 'unavailable',
      message: `Nothing listens on ${url.host}.`,
      hint: 'Start the platform with "svc up", or check the port.',
    };
  }
  if (
    url.protocol === 'https:' &&
    /^(EPROTO|ERR_SSL_)/.test(code) &&
    /wrong version|packet length/i.test(text + code)
  ) {
    return {
      code: 'unavailable',
      message: `${url.host} speaks http, not https.`,
      hint: `Use --url ${url.href.replace('https:', 'http:')}`,
    };
  }
  if (url.protocol === 'http:' && /^(ECONNRESET|HPE_)/.test(code)) {
    return {
      code: 'unavailable',
      message: `${url.host} does not speak http: it may speak https.`,
      hint: `Try --url ${url.href.replace('http:', 'https:')}`,
    };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return {
      code: 'unavailable',
      message: `The certificate of ${url.hostname} is not trusted: ${text}`,
      hint: 'Set NODE_EXTRA_CA_CERTS to the file of your certificate authority, or use the name the certificate is for.',
    };
  }
  return {
    code: 'unavailable',
    message: `${url.host} could not be reached: ${inWords(error)}`,
    hint: 'Check the URL and the network in between.',
  };
}

export function excerpt(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim();
  return line === '' ? '(nothing)' : `"${line.slice(0, 120)}"`;
}
