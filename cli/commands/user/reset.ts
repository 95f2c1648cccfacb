import * as Args from '@oclif/core/args';
import { connectToBackend } from '../../../stack/client/backend-client.ts';
import { createSignInLinkMutation } from '../../../stack/client/generated/operations.ts';
import { SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';

export default class UserReset extends SvcCommand {
  static override summary = 'Print a link that signs a person in, once, within an hour.';
  static override description =
    'For a person who has no password yet, or has lost it. The page then lets the person set one. Whoever opens the link first is signed in, so hand it over safely.';
  static override aliases = ['users:reset'];
  static override examples = [
    { description: 'A link for a person', command: '<%= config.bin %> user reset ann@example.com' },
    { description: 'For a script that sends it', command: '<%= config.bin %> user reset ann@example.com --json' },
  ];
  static override args = { email: Args.string({ description: 'E-mail address', required: true, name: 'EMAIL' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UserReset);
    const terminal = this.terminal(flags);
    const backend = await connectToBackend(installationOf(flags));
    const { createSignInLink: link } = await backend.send(createSignInLinkMutation, { email: args.email });
    terminal.json({ email: link.email, url: link.url, expiresAt: new Date(link.expiresAt).toISOString() });
    terminal.result(link.url);
    terminal.talk(`It signs ${link.email} in, once, within an hour.`);
  }
}
