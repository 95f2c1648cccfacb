import { createHash } from 'node:crypto';
import { escapedHtml } from '../http/escaped-html.ts';

export interface ErrorPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a person's browser shows where a request of an agent cannot go on. It sends the browser nowhere, because the
 * request may be a stranger's. The page needs neither the frontend nor a script.
 */
export function errorPage(message: string): ErrorPage {
  return {
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The agent cannot be connected</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>The agent cannot be connected</h1>
<p>${escapedHtml(message)}</p>
</main>
</body>
</html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  };
}

/** The colours and measures of the pages (`frontend/app/tokens.css`), which need their fonts and files. */
const style = `
:root { color-scheme: light dark; --back: #fcfcfd; --text: #1c2024; --quiet: #60646c; --line: #d9d9e0; --card: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --back: #111113; --text: #edeef0; --quiet: #b0b4ba; --line: #363a3f; --card: #18191b; }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text);
  font: 14px/20px ui-sans-serif, system-ui, sans-serif; }
main { box-sizing: border-box; width: min(440px, 100vw - 32px); padding: 24px; border: 1px solid var(--line);
  border-radius: 8px; background: var(--card); }
h1 { margin: 0 0 8px; font-size: 16px; line-height: 24px; font-weight: 600; }
p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** The words for an error of OAuth (RFC 6749 §4.1.2.1) that cannot go back to the agent. */
export function messageOf({ error, error_description: description }: OauthError): string {
  const again = 'Start the sign-in again in the agent.';
  return known[error] ?? `The sign-in failed: ${description ?? error}. ${again}`;
}

interface OauthError {
  readonly error: string;
  readonly error_description?: string | undefined;
}

const known: Readonly<Record<string, string>> = {
  invalid_client:
    'This platform does not know the agent, or the registration of the agent has ended. Remove this platform in the agent, and add it again.',
  invalid_redirect_uri: 'The agent wants the answer at an address that it has not registered. Nothing was sent there.',
};
