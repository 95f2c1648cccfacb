import { describe, expect, it } from 'vitest';
import { Secret } from '../../contracts/secret.ts';
import { addressChanged, addressLink, invitation, signInLink } from './letters.ts';

const link = new Secret('https://app.example.com/sign-in#token=a&b"c');
const expiresAt = Date.UTC(2030, 0, 2, 3, 4, 59);
const letters = {
  invitation: invitation({ workspace: 'Acme', inviter: 'Ann', link, expiresAt }),
  signInLink: signInLink({ link, expiresAt }),
  addressLink: addressLink({ link, expiresAt }),
  addressChanged: addressChanged({ to: 'ann@new.example', link }),
};

it('an invitation names workspace, inviter, link and the end of its validity', () => {
  const { subject, text } = letters.invitation;
  expect(subject).toBe('Invitation to the workspace “Acme”');
  expect(text.reveal()).toBe(`“Ann” invites you to the workspace “Acme”.

Accept the invitation:
https://app.example.com/sign-in#token=a&b"c

The link works once, until 2030-01-02 03:04 UTC.

If you do not know this person, ignore this mail.
`);
});

describe.each(Object.entries(letters))('%s', (_, { subject, text, html }) => {
  it('has a subject of one short line', () => expect(subject).toMatch(/^[A-Z].{5,60}$/));

  it('has the link in both forms, and in HTML only escaped', () => {
    expect(text.reveal()).toContain(link.reveal());
    expect(html.reveal()).toContain('href="https://app.example.com/sign-in#token=a&#38;b&#34;c"');
    expect(html.reveal()).not.toContain(link.reveal());
  });

  it('loads nothing and runs nothing', () => {
    expect(html.reveal()).not.toMatch(/\b(src|srcset|background)=|url\(|<(img|script|link|iframe|style|form|object)/i);
  });

  it('is a text, not a secret, only when it is revealed', () => {
    expect(JSON.stringify({ text, html, link })).not.toContain('token');
  });
});

it('a hostile name stays a name', () => {
  const workspace = `</p><img src=x onerror="alert(1)">\r\nBcc: eve@example.com\u202e${'x'.repeat(500)}`;
  const { subject, text, html } = invitation({ workspace, inviter: '<b>&"\u0000', link, expiresAt });
  expect(subject).not.toMatch(/[\r\n\u202e]/);
  expect(subject.length).toBeLessThan(120);
  for (const part of ['\0', '\u202e', '\nBcc']) expect(text.reveal()).not.toContain(part);
  expect(html.reveal()).not.toMatch(/<img|<b>/);
  expect(html.reveal()).toContain('&#60;b&#62;&#38;&#34;');
});
