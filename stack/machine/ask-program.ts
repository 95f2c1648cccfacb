export interface AskOptions {
  readonly timeoutMs: number;
  /** All that the program knows of an environment; default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its input; default: nothing. */
  readonly input?: string;
}

/** How a program ended, and what it printed. */
export interface ProgramAnswer {
  readonly failed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const answerMaxBytes = 1024 * 1024;

/** Runs a program that answers by its output. A program that fails, is late or prints too much is an answer too. */
export async function askProgram(
  program: string,
  args: readonly string[],
  { timeoutMs, env, input = '' }: AskOptions,
): Promise<ProgramAnswer> {
  // Loaded when a program is asked: most starts ask none.
  const { execa } = await import('execa');
  const { failed, stdout, stderr } = await execa(program, args, {
    ...{ reject: false, input, timeout: timeoutMs, maxBuffer: answerMaxBytes },
    ...(env === undefined ? {} : { env, extendEnv: false }),
  });
  return { failed, stdout, stderr };
}
