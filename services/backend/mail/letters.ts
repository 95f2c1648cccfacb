import { Secret } from '../../contracts/secret.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import { escapedHtml } from '../http/escaped-html.ts';

/** What a person receives: the same text with and without HTML. Whoever reads the link may use it. */
export interface Letter {
  readonly subject: string;
  readonly link: Secret;
  readonly text: Secret;
  readonly html: Secret;
}

interface Invitation {
  readonly workspace: string;
  /** The name of the person who invites. */
  readonly inviter: string;
  readonly link: Secret;
  readonly expiresAt: number;
}

export function invitation({ workspace, inviter, link, expiresAt }: Invitation): Letter {
  const [where, who] = [shownName(workspace), shownName(inviter)];
  return write({
    subject: `Invitation to the workspace ${where}`,
    before: [`${who} invites you to the workspace ${where}.`],
    action: 'Accept the invitation',
    after: 'If you do not know this person, ignore this mail.',
    ...{ link, expiresAt },
  });
}

interface OneTimeLink {
  readonly link: Secret;
  readonly expiresAt: number;
}

/** For a forgotten password, and for an account that has none yet. */
export function signInLink({ link, expiresAt }: OneTimeLink): Letter {
  return write({
    subject: 'Your link to sign in',
    before: ['Sign in with this link. Then you can set a new password.'],
    action: 'Sign in',
    after: 'If you did not ask for it, ignore this mail. Your password stays as it is.',
    ...{ link, expiresAt },
  });
}

/** To the new address of an account. */
export function addressLink({ link, expiresAt }: OneTimeLink): Letter {
  return write({
    subject: 'Confirm your new address',
    before: ['Your account gets this address when you open the link in the browser in which you are signed in.'],
    action: 'Confirm the address',
    after: 'If you did not ask for it, ignore this mail. Nothing changes without you.',
    ...{ link, expiresAt },
  });
}

/** To the address before, whose owner may know nothing of the change. */
export function addressChanged({ to, link }: { readonly to: string; readonly link: Secret }): Letter {
  return write({
    subject: 'The address of your account was changed',
    before: [`Your account now has the address ${shownName(to)}. Mail goes there from now on.`],
    action: 'Open your account',
    after: 'If you did not change it, tell the operator of the platform at once.',
    ...{ link, expiresAt: null },
  });
}

interface Description {
  readonly link: Secret;
  /** Null: an address of the pages, which is no one-time link. */
  readonly expiresAt: number | null;
  readonly subject: string;
  readonly before: readonly string[];
  readonly action: string;
  readonly after: string;
}

function write({ subject, before, action, after, link, expiresAt }: Description): Letter {
  const validity = expiresAt === null ? [] : [`The link works once, until ${shownTime(expiresAt)}.`];
  const url = link.reveal();
  const text = [...before, `${action}:\n${url}`, ...validity, after].join('\n\n');
  const html = [
    ...before.map(paragraph),
    `<p style="margin:24px 0"><a href="${escapedHtml(url)}" style="${buttonStyle}">${escapedHtml(action)}</a></p>`,
    // A mail client may show no links, or a person may want to read the address first.
    `<p style="margin:0 0 16px;font-size:13px;color:#555;word-break:break-all">${escapedHtml(url)}</p>`,
    ...validity.map(paragraph),
    paragraph(after),
  ].join('\n');
  return { subject, link, text: new Secret(`${text}\n`), html: new Secret(page(subject, html)) };
}

const buttonStyle =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#1f4fd8;color:#fff;text-decoration:none';

function paragraph(text: string): string {
  return `<p style="margin:0 0 16px">${escapedHtml(text)}</p>`;
}

/** Styles are inline and nothing is loaded: mail clients remove the rest. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapedHtml(title)}</title></head>
<body style="margin:0;padding:24px;background:#fff;color:#111;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:520px;margin:0 auto">
${body}
</div>
</body>
</html>
`;
}

const nameLengthMax = 80;

/** A name of another person's choice: on one line, without characters that a header or a mail client would execute. */
function shownName(name: string): string {
  return `“${shownLine(name, nameLengthMax).trim()}”`;
}

/** To the minute, in UTC: the reader's time zone is not known. */
function shownTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
