import type { EnvRecord } from './check.ts';

/**
 * What an MCP server's process inherits from the environment of its runtime: where programs lie, language and time, the way out through
 * proxies, whom to trust, npm's settings. Whoever starts a runtime passes these on to it beside its own variables.
 */
const inherited =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|npm_config_.+)$/i;

/** npm hands its own invocation down as settings: with these an `npx` below an `npx` would run the wrong package. */
const ofOneInvocation =
  /^npm_config_(package|call|yes|workspaces?|include_workspace_root|local_prefix|global|dry_run|json|omit|include|production|save.*)$/i;

export function inheritedByChildren(env: EnvRecord): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && inherited.test(name) && !ofOneInvocation.test(name)) kept[name] = value;
  }
  return kept;
}
