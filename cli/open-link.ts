import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeWhole } from '../stack/state/durable-file.ts';
import type { Installation } from '../stack/state/installation.ts';
import { type Desktop, openAddress, type Unopened } from './open-address.ts';

/**
 * Opens a secret link. Every user of the machine can read the arguments of a program, so the browser opens a private
 * file that leads to the link.
 */
export async function openLink({ stateDir }: Installation, link: string, desktop: Desktop): Promise<Unopened> {
  const file = join(stateDir, 'open.html');
  writeWhole(file, pageLeadingTo(link));
  return await openAddress(pathToFileURL(file).href, desktop);
}

function pageLeadingTo(link: string): string {
  const escaped = link.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return [
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>svc</title>',
    `<meta http-equiv="refresh" content="0; url=${escaped}">`,
    `<p><a href="${escaped}">Open the platform</a></p>`,
    '',
  ].join('\n');
}
