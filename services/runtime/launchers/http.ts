import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { AddressBlock } from '../../contracts/address-block.ts';
import type { Reason } from '../../contracts/bus/messages.ts';
import { createAddressRule } from '../../kit/addresses/address-rule.ts';
import type { Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { resolveByDns } from '../../kit/addresses/resolve-by-dns.ts';
import type { Log } from '../../kit/log.ts';
import { HttpChannel } from './http-channel.ts';
import { HttpLog } from './http-log.ts';
import type { Launcher } from './launch.ts';

export interface HttpLauncherOptions {
  /** Variables that name proxies: HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Addresses that URLs of members may reach besides public ones. */
  readonly allowedAddresses: readonly AddressBlock[];
  readonly log: Log;
  /** Resolves names in URLs of members. */
  readonly resolve?: Resolve;
  readonly renewalMaxMs?: number;
}

/** Half of a call's longest silence: calls that wait for a new session must learn of its failure in time. */
const renewalMaxMs = 30_000;

/**
 * Connects to a remote MCP server over Streamable HTTP. Nothing is started: the first request shows whether it is
 * reachable.
 */
export function createHttpLauncher(launcher: HttpLauncherOptions): Launcher<'http'> {
  const options = {
    proxyEnv: launcher.inherited,
    renewalMaxMs: launcher.renewalMaxMs ?? renewalMaxMs,
    rule: createAddressRule(launcher.allowedAddresses),
    resolve: launcher.resolve ?? resolveByDns,
    log: new HttpLog(launcher.log('launchers')),
  };
  return async (order) => {
    const reason = whyNotUsable(order.launch.url, order.launch.headers);
    if (reason !== null) return { ok: false, reason };
    return { ok: true, channel: new HttpChannel(new URL(order.launch.url), order, options) };
  };
}

function whyNotUsable(url: string, headers: Readonly<Record<string, string>>): Reason | null {
  if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol)) {
    return {
      code: 'url_invalid',
      message: 'Its URL is not a full http or https URL.',
      repair: 'Change the URL, for example to https://host.example/mcp.',
    };
  }
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return {
        code: 'header_invalid',
        message: `Its header "${name.slice(0, 100)}" has a name or a value that HTTP does not allow.`,
        repair: 'Check it for line breaks and invisible characters.',
      };
    }
  }
  return null;
}
