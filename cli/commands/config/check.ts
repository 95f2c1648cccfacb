import { readFile } from 'node:fs/promises';
import { checkDefinition } from '../../../stack/definition/check.ts';
import { SvcCommand } from '../../command.ts';
import { installationOf } from '../../platform.ts';

export default class ConfigCheck extends SvcCommand {
  static override summary = 'Check svc.yaml: every mistake with its line, its rule and its repair.';
  static override examples = [
    { description: 'Check the installation found from here', command: '<%= config.bin %> config check' },
    { description: 'Check another one', command: '<%= config.bin %> config check --dir /srv/tools' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigCheck);
    const terminal = this.terminal(flags);
    const { definitionFile } = installationOf(flags);
    const definition = checkDefinition(await readFile(definitionFile, 'utf8'), definitionFile);
    terminal.json({ ok: true, file: definitionFile, topology: definition.topology, engine: definition.engine });
    terminal.result(`${definitionFile} is right.`);
  }
}
