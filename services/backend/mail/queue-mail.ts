import { z } from 'zod';
import { parseEmail } from '../../contracts/email-address.ts';
import { SvcError } from '../../contracts/errors.ts';
import { newId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import type { Condition, Node, Transaction } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { Letter } from './letters.ts';
import { type MailState, mailWaiting } from './mail-state.ts';

export interface NewMail {
  /** Its mail to one address is bounded apart from other kinds, so that a flood of links prevents no invitation. */
  readonly kind: 'invitation' | 'sign-in' | 'address' | 'notice';
  readonly to: string;
  readonly letter: Letter;
  /** The workspace whose members caused it; null for a person's own mail. */
  readonly workspace: WorkspaceId | null;
  /** The person who caused it; null for an operator and for a person's own mail. */
  readonly author: UserId | null;
  /** Who asked for mail to an address that is not known as the own one yet: the mail takes turns as this person's. */
  readonly sender?: UserId;
  /** When its link expires: after that it is not sent. */
  readonly expiresAt: number;
}

const hourMs = 60 * 60_000;
/** Mail of one kind to one address in one hour. */
export const perAddressMax = 5;
/** More than any workspace invites at once. */
export const perWorkspaceMax = 500;
/** Of one person in all workspaces: twenty people fill the queue, and not one person with twenty workspaces. */
export const perAuthorMax = perWorkspaceMax;
/** With the largest mail, some 500 MB. */
export const waitingMax = 10_000;
/** Places that no invitation takes, so that people can always ask for a link to their own address. */
export const ownPlaces = 1000;
const subjectMaxChars = 200;
const bodyMaxBytes = 48 * 1024;

/**
 * Queues a mail in the transaction of the change that causes it. After the commit, the caller wakes the sender:
 * `mailSender.wake()`. Throws `rate_limited` when there is too much mail, which rejects the change too.
 */
export async function queueMail({ secrets }: WithSecrets, transaction: Transaction, mail: NewMail): Promise<void> {
  const { kind, workspace, author, sender, expiresAt } = mail;
  const now = Date.now();
  const to = parseEmail(mail.to);
  const address = addressOf(kind, to);
  const slot = await freeSlot(transaction, secrets.digests(address), now);
  const source = workspace ?? sender ?? secrets.digest(address);
  await refuseTooMuch(transaction, { source, author, isOwn: workspace === null });
  const id = newId('mail');
  await transaction.create('mail', {
    ...{ id, slot, source, author, state: 'waiting', turn: await nextTurn(transaction, source), dueAt: now },
    content: secrets.encrypt(contentOf(to, mail.letter), placeOf(id)),
    ...{ attempts: 0, lastError: null, expiresAt, createdAt: now },
  });
}

export interface WithdrawnMail extends Pick<NewMail, 'kind' | 'to'> {
  /** Null: of any source. */
  readonly workspace: WorkspaceId | null;
}

/** Mail that waits is not sent once its link leads nowhere. Mail that is being sent ends by itself. */
export async function withdrawMail(
  { secrets }: WithSecrets,
  transaction: Transaction,
  { kind, to, workspace }: WithdrawnMail,
): Promise<void> {
  for (const digest of secrets.digests(addressOf(kind, to))) {
    for (const { id, source, state } of await mailIn(transaction, digest)) {
      const isMeant = workspace === null || source === workspace;
      if (!isMeant || state !== ('waiting' satisfies MailState)) continue;
      // It keeps its slot, so that the mail to this address stays bounded.
      const changes = { state: 'withdrawn' satisfies MailState, content: null };
      await transaction.update('mail', id, changes, { anchor: null });
    }
  }
}

function addressOf(kind: NewMail['kind'], to: string): Secret {
  return new Secret(`mail ${kind} ${to}`);
}

async function mailIn(transaction: Transaction, digest: string): Promise<readonly Node<'mail'>[]> {
  const where = [{ field: 'slot', prefix: `${digest}/` }] as const;
  return (await transaction.select({ type: 'mail', anchor: null, limit: perAddressMax, where })).nodes;
}

/**
 * An address has a number of slots. Each mail takes one and keeps it for an hour, and as long as it waits. Two
 * concurrent changes cannot take the same one.
 */
async function freeSlot(transaction: Transaction, digests: readonly string[], now: number): Promise<string> {
  const taken = new Map<string, Node<'mail'>>();
  for (const digest of digests) {
    for (const node of await mailIn(transaction, digest)) taken.set(node.slot.slice(digest.length + 1), node);
  }
  const numbers = Array.from({ length: perAddressMax }, (_, number) => String(number));
  const [current = ''] = digests;
  for (const number of numbers) {
    const node = taken.get(number);
    if (node === undefined) return `${current}/${number}`;
    if (mailWaiting.includes(node.state) || node.createdAt > now - hourMs) continue;
    await transaction.remove('mail', node.id, null);
    return `${current}/${number}`;
  }
  throw new SvcError('rate_limited', `${perAddressMax} such mails to this address were queued within an hour.`, {
    hint: 'Try again in an hour.',
  });
}

interface Sender {
  readonly source: string;
  readonly author: UserId | null;
  /** A person's own mail. */
  readonly isOwn: boolean;
}

async function refuseTooMuch(transaction: Transaction, { source, author, isOwn }: Sender): Promise<void> {
  const waitingOf = (sender: readonly Condition<'mail'>[]) =>
    transaction.count({
      ...{ type: 'mail', anchor: null, limit: 1 },
      where: [...sender, { field: 'state', in: mailWaiting }],
    });
  const whenSent = 'Try again when they are sent. svc status shows why mail waits.';
  if ((await waitingOf([{ field: 'source', equals: source }])) >= perWorkspaceMax) {
    throw new SvcError('rate_limited', `${perWorkspaceMax} mails of this workspace wait to be sent.`, {
      hint: whenSent,
    });
  }
  if (author !== null && (await waitingOf([{ field: 'author', equals: author }])) >= perAuthorMax) {
    throw new SvcError('rate_limited', `${perAuthorMax} mails of yours wait to be sent, in all workspaces.`, {
      hint: whenSent,
    });
  }
  const most = isOwn ? waitingMax : waitingMax - ownPlaces;
  if ((await waitingOf([])) < most) return;
  throw new SvcError('rate_limited', `${most} mails wait to be sent.`, {
    hint: 'Try again later. svc status shows why mail waits.',
  });
}

/**
 * Sources take turns: a mail goes behind the last one of its own source, and beside the first of the others. So mail
 * waits for one mail of each other source, however much that has.
 */
async function nextTurn(transaction: Transaction, source: string): Promise<number> {
  const inTurn = { type: 'mail', anchor: null, orderBy: 'turn', limit: 1 } as const;
  const isWaiting = { field: 'state', in: mailWaiting } as const;
  const own = { field: 'source', equals: source } as const;
  const { nodes: last } = await transaction.select({ ...inTurn, where: [own, isWaiting], descending: true });
  const { nodes: first } = await transaction.select({ ...inTurn, where: [isWaiting] });
  return Math.max((last[0]?.turn ?? -1) + 1, first[0]?.turn ?? 0);
}

const storedContent = z.object({
  to: z.string(),
  subject: z.string(),
  link: z.string(),
  text: z.string(),
  html: z.string(),
});

function contentOf(to: string, { subject, link, text, html }: Letter): Secret {
  const bodies = { link: link.reveal(), text: text.reveal(), html: html.reveal() };
  const content: z.infer<typeof storedContent> = { to, subject: shownLine(subject, subjectMaxChars), ...bodies };
  const written = JSON.stringify(content);
  if (Buffer.byteLength(written) <= bodyMaxBytes) return new Secret(written);
  throw new SvcError('too_large', `A mail may have at most ${bodyMaxBytes} bytes.`);
}

export function readContent({ secrets }: WithSecrets, { id, content }: Node<'mail'>): { to: string; letter: Letter } {
  if (content === null) throw new Error(`mail ${id} waits without its content`);
  const text = secrets.decrypt(content, placeOf(id)).reveal();
  const { to, subject, ...bodies } = storedContent.parse(JSON.parse(text));
  const { link, text: plain, html } = bodies;
  return { to, letter: { subject, link: new Secret(link), text: new Secret(plain), html: new Secret(html) } };
}

function placeOf(id: string) {
  return { node: id, field: 'content' };
}
