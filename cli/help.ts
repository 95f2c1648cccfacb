import type { Config } from '@oclif/core/config';
import { CommandHelp, Help } from '@oclif/core/help';
import { usageOf } from './typed/usage.ts';

const exitCodes: [code: string, meaning: string][] = [
  ['0', 'done, or nothing to do'],
  ['1', 'failed, or not found; of status: degraded'],
  ['2', 'wrong use or invalid input: flags, file, configuration'],
  ['3', 'refused: key or permission'],
  ['4', 'not running or unreachable'],
  ['5', 'conflict: port or name in use, changed meanwhile, another command running'],
  ['130', 'interrupted'],
];

/** Prints the help of a command or a topic; null: of the whole command line, with the exit codes. */
export async function showHelp(config: Config, id: string | null): Promise<void> {
  await new SvcHelp(config).showHelp(id === null ? [] : [id]);
}

class SvcHelp extends Help {
  override CommandHelpClass = SvcCommandHelp;

  override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    this.log(this.section('EXIT CODES', this.renderList(exitCodes, { indentation: 2, spacer: '\n' })));
    this.log('');
  }
}

class SvcCommandHelp extends CommandHelp {
  protected override defaultUsage(): string {
    return usageOf(this.command);
  }
}
