import * as Args from '@oclif/core/args';
import { describeSettings } from '../../../stack/settings/describe.ts';
import { SvcCommand } from '../../command.ts';
import { facts } from '../../output/table.ts';

export default class ConfigDocs extends SvcCommand {
  static override summary = 'Explain the settings of svc.yaml: meaning, rule, default and variables.';
  static override args = {
    section: Args.string({
      name: 'SECTION',
      description: 'A setting or a group of them, such as runtime or limits.memoryMaxMb.',
    }),
  };
  static override examples = [
    { description: 'All settings', command: '<%= config.bin %> config docs' },
    { description: 'Those of one section', command: '<%= config.bin %> config docs runtime' },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigDocs);
    const terminal = this.terminal(flags);
    const described = describeSettings(args.section);
    terminal.json({ settings: described });
    const texts = described.map(({ path, meaning, rule, default: usual, variables }) => {
      const told: [string, string][] = [
        ['Meaning', meaning.replaceAll('\n', ' ')],
        ['Must be', rule],
        ['Default', usual === undefined ? 'none: svc init makes it' : JSON.stringify(usual)],
      ];
      if (variables.length > 0) told.push(['Decides', variables.join(', ')]);
      return `${path}\n${facts(told, terminal)}`;
    });
    terminal.result(texts.join('\n\n'));
  }
}
