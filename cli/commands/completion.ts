import { realpathSync } from 'node:fs';
import * as Args from '@oclif/core/args';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { SvcCommand } from '../command.ts';
import { completionScript, shells } from '../complete/scripts.ts';

export default class Completion extends SvcCommand {
  static override summary = 'Print a script that completes commands, flags and names in a shell.';
  static override description = [
    'Put one line into the file that your shell reads when it starts:',
    '  bash, ~/.bashrc: source <(svc completion bash)',
    '  zsh, ~/.zshrc: source <(svc completion zsh)',
    '  fish, ~/.config/fish/config.fish: svc completion fish | source',
    'With npx, write the script to a file, and let the shell read that file.',
  ].join('\n');
  static override examples = [
    { description: 'Complete in this bash', command: 'source <(<%= config.bin %> completion bash)' },
    { description: 'Keep the script in a file', command: '<%= config.bin %> completion zsh > ~/.svc-completion.zsh' },
  ];
  static override args = { shell: Args.string({ description: 'bash, zsh or fish', required: true, name: 'SHELL' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Completion);
    const shell = shells.find((known) => known === args.shell);
    if (shell === undefined) {
      throw new SvcError('invalid_input', `"${args.shell}" is not a shell with completion.`, {
        hint: suggestion(args.shell, shells),
      });
    }
    const program = { node: process.execPath, script: realpathSync(process.argv[1] ?? '') };
    const script = completionScript(shell, program);
    if (flags.json) this.terminal(flags).json({ shell, script });
    // Not through the terminal, which writes `npx svc` in place of `svc`.
    else process.stdout.write(script);
  }
}
