import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { createSignInLinkMutation } from '../../stack/client/generated/operations.ts';
import { status } from '../../stack/operations/status.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import { openAddress } from '../open-address.ts';
import { openLink } from '../open-link.ts';
import { choice } from '../typed/how-it-runs.ts';

const pages = ['app', 'api'] as const;

export default class Open extends SvcCommand {
  static override summary = 'Open the page of the platform in the browser, signed in.';
  static override description =
    'It signs in the owner of this installation (owner.email in svc.yaml), or another person. Without a display it prints a link that does so, once, within an hour.';
  static override examples = [
    { description: 'The page for people', command: '<%= config.bin %> open' },
    { description: 'The address of the GraphQL API', command: '<%= config.bin %> open api' },
  ];
  static override args = { what: Args.string({ description: 'app or api; default app', name: 'WHAT' }) };
  static override flags = {
    user: Flags.string({ summary: 'Person to sign in. Default: the owner of this installation.', helpValue: 'EMAIL' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Open);
    const terminal = this.terminal(flags);
    const what = choice('WHAT', args.what, pages) ?? 'app';
    const installation = installationOf(flags);
    const { state, urls } = await status({ installation });
    if (state === 'stopped') {
      throw new SvcError('unavailable', 'The platform is not running.', { hint: 'Start it: svc up' });
    }
    const url = urls[what];
    const desktop = { isMac: process.platform === 'darwin', env: environment };
    if (what === 'api') {
      const reason = await openAddress(url, desktop);
      terminal.json({ what, url, opened: reason === null, reason, link: null });
      terminal.result(url);
      if (reason !== null) terminal.talk(`It was not opened, because ${reason}. Open the address yourself.`);
      return;
    }
    const { email, link } = await linkFor(installation, flags.user);
    const reason = await openLink(installation, link, desktop);
    terminal.json({ what, url, opened: reason === null, reason, link: reason === null ? null : link });
    if (reason === null) {
      terminal.result(url);
      terminal.talk(`It is open in the browser, as ${email}.`);
    } else {
      terminal.result(link);
      terminal.talk(`It was not opened, because ${reason}. The link signs ${email} in, once, within an hour.`);
    }
  }
}

async function linkFor(installation: Installation, user: string | undefined) {
  const backend = await connectToBackend(installation);
  const email = user ?? readDefinition(installation.definitionFile).owner.email;
  const { createSignInLink } = await backend.send(createSignInLinkMutation, { email });
  return { email: createSignInLink.email, link: createSignInLink.url };
}
