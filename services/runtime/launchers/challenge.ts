import type { Challenge } from '../../contracts/bus/messages.ts';

/** A longer header claims nothing. */
const headerMax = 8192;
const claimMax = 2048;

/** The claims of a header WWW-Authenticate with the scheme Bearer (RFC 9110 §11.6.1, RFC 9728 §5.1). */
export function findChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > headerMax) return {};
  const [, parameters] = /(?:^|,)\s*bearer +(.*)$/i.exec(header) ?? [];
  if (parameters === undefined) return {};
  const resourceMetadata = parameterIn(parameters, 'resource_metadata');
  const scope = parameterIn(parameters, 'scope');
  return { ...(resourceMetadata === undefined ? {} : { resourceMetadata }), ...(scope === undefined ? {} : { scope }) };
}

const parameter = /\b([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;

function parameterIn(text: string, name: string): string | undefined {
  for (const [, found = '', quoted, plain] of text.matchAll(parameter)) {
    if (found.toLowerCase() !== name) continue;
    const value = plain ?? quoted?.replace(/\\(.)/g, '$1') ?? '';
    return value.length <= claimMax && /^[\x20-\x7e]+$/.test(value) ? value : undefined;
  }
  return undefined;
}
