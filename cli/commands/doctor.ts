import { resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { sizeText } from '../../stack/machine/size-text.ts';
import { examine } from '../../stack/operations/doctor/examine.ts';
import type { Finding } from '../../stack/operations/doctor/finding.ts';
import { writeSupport } from '../../stack/operations/doctor/support.ts';
import { AlreadyReported, environment, interruption, SvcCommand } from '../command.ts';
import { installationOf } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';
import { hang, seenWidth } from '../output/width.ts';

const marks = {
  ok: { sign: '✓', colour: 'green' },
  warning: { sign: '!', colour: 'yellow' },
  failed: { sign: '✗', colour: 'red' },
} as const;

export default class Doctor extends SvcCommand {
  static override summary = 'Check everything that support would ask for, with repairs.';
  static override description =
    'Exit code 1 if a check failed. The command changes nothing. A support file holds the checks, the state, settings and the last log lines, without secrets: read it before you send it.';
  static override examples = [
    { description: 'Check this installation and its machine', command: '<%= config.bin %> doctor' },
    { description: 'Write a file for support too', command: '<%= config.bin %> doctor --support support.txt' },
  ];
  static override flags = {
    support: Flags.string({ summary: 'Write a text file for support, without secrets.', helpValue: 'FILE' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor);
    const terminal = this.terminal(flags);
    const examined = { installation: installationOf(flags), env: environment, signal: interruption() };
    const findings: Finding[] = [];
    for await (const finding of examine(examined)) {
      findings.push(finding);
      terminal.result(describe(finding, terminal));
    }
    const support = flags.support === undefined ? null : await writeSupport(resolve(flags.support), findings, examined);
    const problems = findings.filter(({ state }) => state === 'failed').length;
    terminal.json({ ok: problems === 0, checks: findings, support });
    if (support !== null)
      terminal.talk(`Wrote "${support.file}" (${sizeText(support.sizeBytes)}). Read it before you send it.`);
    if (problems > 0) throw new AlreadyReported(1);
  }
}

function describe({ check, state, detail, repair }: Finding, terminal: Terminal): string {
  const { sign, colour } = marks[state];
  const head = `${terminal.paint(colour, sign)} ${check.padEnd(15)} `;
  const indent = seenWidth(head);
  const lines = [hang({ head, text: detail, indent }, terminal)];
  if (repair !== null) lines.push(hang({ head: ' '.repeat(indent), text: repair, indent }, terminal));
  return lines.join('\n');
}
