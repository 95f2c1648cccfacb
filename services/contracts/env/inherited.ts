import type { EnvRecord } from './check.ts';

/**
 * Variables that an MCP server's process inherits from its runtime: program path, language and time, proxies,
 * certificate authorities, npm's settings. The parent of a runtime passes these on besides the runtime's own variables.
 */
const inherited =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|npm_config_.+)$/i;

/** npm passes its own invocation on as settings: an `npx` below an `npx` would run the wrong package. */
const ofOneInvocation =
  /^npm_config_(package|call|yes|workspaces?|include_workspace_root|local_prefix|global|dry_run|json|omit|include|production|save.*)$/i;

export function inheritedByChildren(env: EnvRecord): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && inherited.test(name) && !ofOneInvocation.test(name)) kept[name] = value;
  }
  return kept;
}
