import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { sizeText } from '../../stack/machine/size-text.ts';
import { move } from '../../stack/operations/move/move.ts';
import { confirmReplacement, undoReplacement } from '../../stack/operations/replace/end-replacement.ts';
import { sideName, type WantedSide } from '../../stack/operations/replace/side.ts';
import { engines, graphs, topologies } from '../../stack/settings/choices.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment, interruption, SvcCommand } from '../command.ts';
import { makeSure } from '../consent.ts';
import { installationOf } from '../objects/platform.ts';
import { describeLoss, describeMoved, describePlan, tellProgress } from '../output/move.ts';
import { openProgressList, type ProgressList } from '../output/progress-list.ts';
import type { Terminal } from '../output/terminal.ts';
import { choice } from '../typed/how-it-runs.ts';

interface MoveQuestion {
  readonly terminal: Terminal;
  readonly yes: boolean;
}

export default class Move extends SvcCommand {
  static override summary =
    'Move an installation to another topology, graph or engine, with all its data, keys and sessions.';
  static override description =
    'Shows the plan and asks first. The old side is kept until --confirm removes it or --undo returns to it.';
  static override examples = [
    {
      description: 'Run each service as a process of its own, on NATS',
      command: '<%= config.bin %> move --to distributed --graph sqlite --engine process',
    },
    {
      description: 'Move the data to Dgraph',
      command: '<%= config.bin %> move --to distributed --graph dgraph',
    },
    { description: 'Move the data back to SQLite', command: '<%= config.bin %> move --graph sqlite' },
    {
      description: 'Run each service as a container',
      command: '<%= config.bin %> move --to distributed --engine docker',
    },
    { description: 'Run the services as processes again', command: '<%= config.bin %> move --engine process' },
    { description: 'Remove the old side once the new one works', command: '<%= config.bin %> move --confirm' },
    { description: 'Return to the old side', command: '<%= config.bin %> move --undo' },
  ];
  static override flags = {
    to: Flags.string({ summary: 'New topology; default: unchanged.', helpValue: topologies.join('|') }),
    graph: Flags.string({
      summary: 'New graph engine: sqlite or dgraph. Default: unchanged, where the topology allows it.',
      helpValue: graphs.join('|'),
    }),
    engine: Flags.string({
      summary:
        'What runs the services: process, on this machine, or docker, in containers. Default: unchanged, where possible.',
      helpValue: engines.join('|'),
    }),
    yes: Flags.boolean({ char: 'y', summary: 'Skip the question.' }),
    confirm: Flags.boolean({ summary: 'Remove the old side.' }),
    undo: Flags.boolean({ summary: 'Return to the old side.' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Move);
    const to = {
      topology: choice('--to', flags.to, topologies),
      graph: choice('--graph', flags.graph, graphs),
      engine: choice('--engine', flags.engine, engines),
    };
    const isMove = Object.values(to).some((chosen) => chosen !== undefined);
    const wanted = [flags.confirm, flags.undo, isMove].filter(Boolean);
    if (wanted.length !== 1) {
      throw new SvcError('invalid_input', 'svc move needs one of --to (or --graph, --engine), --confirm and --undo.', {
        hint: 'Such as: svc move --to distributed',
      });
    }
    const asking = { terminal: this.terminal(flags), yes: flags.yes };
    const installation = installationOf(flags);
    if (isMove) await moveTo(installation, to, asking);
    else if (flags.confirm) await confirm(installation, asking);
    else await undo(installation, asking);
  }
}

async function moveTo(installation: Installation, to: WantedSide, asking: MoveQuestion): Promise<void> {
  const { terminal, yes } = asking;
  const list = openProgressList(terminal);
  const moved = await move({
    installation,
    to,
    env: environment,
    signal: interruption(),
    onProgress: (progress) => tellProgress(progress, list),
    confirm: (plan) => {
      const question = `Move to ${sideName(plan.to.definition)}?`;
      return makeSure(terminal, { yes, what: describePlan(plan), question, declined: 'Nothing was moved.' });
    },
  }).finally(() => list.end());
  const { state, from, moved: kinds, kept } = moved;
  terminal.json({ from, to: moved.to, moved: kinds, kept, state: state === 'waiting' ? 'moved' : state });
  terminal.result(state === 'moved' ? describeMoved(moved) : `Nothing to do: it is ${sideName(moved.to)} already.`);
  if (state === 'unchanged') return;
  if (state === 'waiting')
    terminal.talk(`The move from ${sideName(from)} is not confirmed yet: the old side is in ${kept}.`);
  terminal.talk('Next: svc move --confirm removes the old side, svc move --undo returns to it.');
}

async function confirm(installation: Installation, { terminal }: MoveQuestion): Promise<void> {
  const list = openProgressList(terminal);
  const options = { installation, command: 'move', env: environment, onProgress: tellIn(list) } as const;
  const { from, to, moved, kept, elsewhere } = await confirmReplacement(options, (move, bytes) => {
    const side = sideName(move.from);
    terminal.talk(`Removes ${move.kept} (${sizeText(bytes)}): ${side}, with its data of ${move.startedAt}.`);
  }).finally(() => list.end());
  terminal.json({ from, to, moved, kept, state: 'confirmed' });
  terminal.result(`Confirmed: it is ${sideName(to)}, and ${kept} is removed.`);
  if (elsewhere.left !== null) {
    terminal.warn(`Its data in the Dgraph at ${elsewhere.left} is still there. You may remove it there.`);
  }
}

async function undo(installation: Installation, { terminal, yes }: MoveQuestion): Promise<void> {
  const signal = interruption();
  const list = openProgressList(terminal);
  const options = { installation, command: 'move', env: environment, onProgress: tellIn(list), signal } as const;
  const { from, to, moved, kept } = await undoReplacement(options, (loss) =>
    makeSure(terminal, {
      yes,
      what: describeLoss(loss),
      question: `Go back to ${sideName(loss.replacement.from)}?`,
      declined: 'Nothing was changed.',
    }),
  ).finally(() => list.end());
  terminal.json({ from, to, moved, kept, state: 'undone' });
  terminal.result(`Undone: it is ${sideName(from)} again, with its data from before the move.`);
}

function tellIn(list: ProgressList) {
  return (progress: Parameters<typeof tellProgress>[0]) => tellProgress(progress, list);
}
