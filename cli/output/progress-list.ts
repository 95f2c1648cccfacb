import type { ListrTask } from 'listr2';
import type { Progress } from '../../stack/lifecycle/progress.ts';
import { printable } from './style.ts';
import type { Canvas, Terminal } from './terminal.ts';

type ServiceProgress = Extract<Progress, { kind: 'service' }>;
/** The progress of a command that starts, stops or moves a platform. */
export type ListedProgress =
  | ServiceProgress
  | Extract<Progress, { kind: 'notice' }>
  /** Part of a plan: a change that is about to happen. */
  | { readonly kind: 'change'; readonly text: string }
  | { readonly kind: 'step'; readonly text: string };

export interface ProgressList {
  tell(progress: ListedProgress): void;
  /** Ends the drawing. The command writes its result or its error after that. */
  end(): Promise<void>;
}

/** On a person's terminal, one line for each part, drawn in place; otherwise one line for each change. */
export function openProgressList(terminal: Terminal): ProgressList {
  return terminal.canvas === null ? lines(terminal) : new DrawnList(terminal, terminal.canvas);
}

function lines(terminal: Terminal): ProgressList {
  return { tell: (progress) => tellLine(progress, terminal), end: async () => undefined };
}

function tellLine(progress: ListedProgress, { paint, talk, warn }: Terminal): void {
  switch (progress.kind) {
    case 'notice':
      warn(progress.message);
      break;
    case 'change':
      talk(`${paint('yellow', '~')} ${progress.text}`);
      break;
    case 'step':
      talk(`${paint('bold', '→')} ${progress.text}`);
      break;
    case 'service':
      talk(`${paint('grey', '·')} ${progress.name} ${progress.state}`);
  }
}

type Outcome = 'done' | 'failed' | 'left';

/** Final states: the part waits for nothing more. */
const outcomes: Readonly<Partial<Record<ServiceProgress['state'], Outcome>>> = {
  healthy: 'done',
  stopped: 'done',
  failed: 'failed',
  lost: 'failed',
};

/** One line of the list. It is open until its outcome is known. */
class Row {
  readonly #outcome = Promise.withResolvers<Outcome>();
  #task: { title: string | undefined; output: string | undefined } | null = null;
  #title: string;
  /** Notices from before listr2 began with this line. */
  readonly #notices: string[] = [];
  isOpen = true;

  constructor(title = '') {
    this.#title = title;
  }

  show(title: string, outcome: Outcome | undefined): void {
    this.#title = title;
    if (this.#task !== null) this.#task.title = title;
    if (outcome !== undefined) this.settle(outcome);
  }

  say(text: string): void {
    if (this.#task === null) this.#notices.push(text);
    else this.#task.output = text;
  }

  settle(outcome: Outcome): void {
    this.isOpen = false;
    this.#outcome.resolve(outcome);
  }

  asTask(): ListrTask {
    return {
      title: this.#title,
      rendererOptions: { bottomBar: Number.POSITIVE_INFINITY, persistentOutput: true },
      task: async (_, task) => {
        this.#task = task;
        task.title = this.#title;
        for (const text of this.#notices) task.output = text;
        const outcome = await this.#outcome.promise;
        if (outcome === 'failed') throw new Error(this.#title);
        if (outcome === 'left') task.skip(this.#title);
      },
    };
  }
}

/** listr2 draws a list whose lines are known at its start. So parts that start together are one list, and later parts are the next. */
class DrawnList implements ProgressList {
  readonly #terminal: Terminal;
  readonly #canvas: Canvas;
  #waiting: ListedProgress[] = [];
  #rows = new Map<string, Row>();
  #drawing: Promise<void> | null = null;
  #isEnding = false;

  constructor(terminal: Terminal, canvas: Canvas) {
    this.#terminal = terminal;
    this.#canvas = canvas;
  }

  tell(progress: ListedProgress): void {
    const row = progress.kind === 'service' ? this.#rows.get(progress.name) : undefined;
    const open = [...this.#rows.values()].find(({ isOpen }) => isOpen);
    // A step lasts until the command reports the next event. The list waits for parts until the next step at most.
    if (progress.kind === 'step') this.#leave();
    else this.#rows.get(stepRow)?.settle('done');
    if (progress.kind === 'service' && row?.isOpen) {
      row.show(this.#title(progress), outcomes[progress.state]);
    } else if (progress.kind === 'notice' && open !== undefined) {
      open.say(this.#shown(progress.message));
    } else if (isLine(progress) && this.#drawing === null) {
      tellLine(progress, this.#terminal);
    } else {
      this.#waiting.push(progress);
      this.#drawing ??= this.#draw();
    }
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#leave();
    await this.#drawing;
  }

  #leave(): void {
    this.#rows.get(stepRow)?.settle('done');
    for (const row of this.#rows.values()) row.settle('left');
  }

  async #draw(): Promise<void> {
    // Parts that begin in the same turn belong together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.kind === 'step') await this.#drawRows(new Map([[stepRow, new Row(this.#shown(next.text))]]), '→');
      else if (next.kind === 'service') await this.#drawRows(this.#partsFrom(next), '✔');
      else tellLine(next, this.#terminal);
    }
    this.#drawing = null;
  }

  /** One row for each part that waits, up to the next step, change or notice. */
  #partsFrom(first: ServiceProgress): Map<string, Row> {
    const after = this.#waiting.findIndex(({ kind }) => kind !== 'service');
    const together = [first, ...this.#waiting.splice(0, after === -1 ? this.#waiting.length : after)];
    const latest = new Map(together.flatMap((told) => (told.kind === 'service' ? [[told.name, told] as const] : [])));
    const rows = new Map<string, Row>();
    for (const [name, progress] of latest) {
      const row = new Row();
      row.show(this.#title(progress), outcomes[progress.state]);
      rows.set(name, row);
    }
    return rows;
  }

  async #drawRows(rows: Map<string, Row>, doneIcon: string): Promise<void> {
    const { Listr, ListrLogger, ProcessOutput } = await import('listr2');
    const { paint } = this.#terminal;
    const colour = (name: 'green' | 'grey' | 'red' | 'yellow') => (text?: string) =>
      this.#shown(paint(name, text ?? ''));
    const list = new Listr(
      [...rows.values()].map((row) => row.asTask()),
      {
        concurrent: true,
        exitOnError: false,
        // The command itself ends at Ctrl-C, after it has rolled back.
        registerSignalListeners: false,
        renderer: 'default',
        rendererOptions: {
          formatOutput: 'wrap',
          showErrorMessage: false,
          suffixSkips: false,
          logger: new ListrLogger({
            useIcons: true,
            toStderr: [],
            processOutput: new ProcessOutput(this.#canvas, this.#canvas),
          }),
          icon: { COMPLETED: doneIcon, FAILED: '✖', SKIPPED_WITH_COLLAPSE: '·', OUTPUT_WITH_BOTTOMBAR: '!' },
          color: {
            PENDING: colour('yellow'),
            COMPLETED: colour('green'),
            FAILED: colour('red'),
            SKIPPED_WITH_COLLAPSE: colour('grey'),
            OUTPUT_WITH_BOTTOMBAR: colour('yellow'),
          },
        },
      },
    );
    this.#rows = rows;
    if (this.#isEnding) this.#leave();
    // The step is over once the command reports another one.
    else if (this.#waiting.length > 0) rows.get(stepRow)?.settle('done');
    await list.run();
  }

  #title({ name, state }: ServiceProgress): string {
    return this.#shown(`${name} ${state === 'healthy' ? state : this.#terminal.paint('grey', state)}`);
  }

  #shown(text: string): string {
    return printable(this.#terminal.asTyped(text));
  }
}

function isLine({ kind }: ListedProgress): boolean {
  return kind === 'notice' || kind === 'change';
}

/** Key of the only row of a step; no part has such a name. */
const stepRow = '';
