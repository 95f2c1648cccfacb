/** Secrets with a recognisable form. */
const knownForms: readonly RegExp[] = [
  // GitHub, GitLab, npm
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_\w{10,}|glpat-[\w-]{10,}|npm_[A-Za-z0-9]{20,})/g,
  // Anthropic, OpenAI, Stripe
  /(?<![A-Za-z0-9])(?:sk-(?:ant|proj|svcacct)-[\w-]{10,}|sk-(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}|[sr]k_(?:live|test)_\w{10,})/g,
  // Slack, AWS
  /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16})/g,
  // This platform
  /(?<![A-Za-z0-9])(?:(?:SVA|RTK|SYK|WSK)_|USK)[A-Za-z0-9_-]{16,}/g,
  // JSON Web Tokens (RFC 7519). The pattern first looks for the second dot: otherwise it would read all letters again
  // after each "eyJ".
  /(?<![\w-])(?=[\w-]{11,}\.[\w-]{8,}\.)[\w-]*?(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  // Private keys (RFC 7468)
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
];

const secretFlag = '(?:api-?key|access-?key|secret-?key|(?:[a-z]+-)*(?:token|password|passwd|secret))';

/** Text before a secret of any form. The second group is the secret. */
const introductions: readonly RegExp[] = [
  // NAME=value, as a shell and env take it
  /((?:^|[\s"'=])(?:[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD)|(?:[A-Z0-9_]*_)?(?:API|ACCESS)?KEY)=)(\S+)/g,
  // --api-key=value
  new RegExp(`((?:^|[\\s"'])--?${secretFlag}=)(\\S+)`, 'gi'),
  // A password in a URL (RFC 3986, 3.2.1), and parameters of its query
  /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:\/\/[^\s/:@?#]*:)([^\s/@]+)(?=@)/gi,
  /([?&](?:[\w-]*(?:token|secret|password|passwd|api[_-]?key)|key|auth|sig|signature)=)([^\s&#"']+)/gi,
  // A header; the other names also appear in programs given as a word.
  /((?:^|[\s"'])(?:proxy-)?authorization\s*:\s*(?:(?:bearer|basic|token)\s+)?)(\S+)/gi,
  /(^["']?[a-z-]*(?:api-?key|token|secret)\s*:\s+)(\S+)/gi,
  /(\bbearer\s+)([\w.~+/=-]{16,})/gi,
];
const flagBefore = new RegExp(`^--?${secretFlag}$`, 'i');

/** A placeholder, variable, path or flag value, not a secret. */
const harmless =
  /^["']?(?:\$.*|%\w+%|<[^>]*>?|\{.*|\[.*\]|(?:\.{0,2}|~)\/.*|[x*.…_-]+|your\b.*|your[-_].*|example.*|changeme|placeholder|true|false|yes|no|none|null|[01])?["']?$/i;

/** The words of a command, with [secret] in place of each part that looks like a secret. */
export function withoutSecretWords(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    const isValueOfFlag = flagBefore.test(words[at - 1] ?? '') && !word.startsWith('-') && !harmless.test(word);
    return isValueOfFlag ? redacted : withoutSecretParts(word);
  });
}

/** The first word with such a part, and a version of it that may be shown; null when there is none. */
export function findSecretWord(words: readonly string[]): { readonly at: number; readonly shown: string } | null {
  const allShown = withoutSecretWords(words);
  const at = words.findIndex((word, index) => word !== allShown[index]);
  return at === -1 ? null : { at, shown: allShown[at] ?? redacted };
}

/** Headers and variables whose value is a credential in any form. */
const secretNames =
  /authorization|cookie|token(?!s)|secret|passw|credential|(?:^|[-_])(?:api[-_]?|access[-_]?)?(?:key|auth)$/i;

/** Whether a setting of an MCP server is a secret by its name or by the form of its value. */
export function looksSecret(name: string, value: string): boolean {
  if (secretNames.test(name) && !harmless.test(value)) return true;
  return findSecretWord([`${name}=${value}`, `${name}: ${value}`, value]) !== null;
}

const redacted = '[secret]';

function withoutSecretParts(word: string): string {
  const introduced = introductions.reduce(
    (text, pattern) =>
      text.replace(pattern, (whole, before: string, value: string) =>
        harmless.test(value) ? whole : before + redacted,
      ),
    word,
  );
  return knownForms.reduce((text, pattern) => text.replace(pattern, redacted), introduced);
}
