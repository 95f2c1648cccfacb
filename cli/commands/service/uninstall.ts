import { removeBootServices } from '../../../stack/boot/boot-service.ts';
import { refuseCopy } from '../../../stack/state/find-original.ts';
import { environment, SvcCommand } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';

export default class ServiceUninstall extends SvcCommand {
  static override summary = 'No longer start the platform at boot. A running platform stays up.';
  static override aliases = ['services:uninstall'];
  static override examples = [
    { description: 'Remove the service', command: '<%= config.bin %> service uninstall' },
    { description: 'Of another folder', command: '<%= config.bin %> service uninstall --dir tools' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ServiceUninstall);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    refuseCopy(installation);
    const files = await removeBootServices(installation, environment);
    terminal.json({ removed: files.length > 0, files });
    terminal.result(
      files.length === 0
        ? 'Nothing to do: no service starts this platform.'
        : `The platform no longer starts at boot. Removed: ${files.join(', ')}.`,
    );
  }
}
