export interface AskOptions {
  readonly timeoutMs: number;
  /** The program's environment; default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its input; default: nothing. */
  readonly input?: string;
}

const answerMaxBytes = 1024 * 1024;

/** Runs a program and returns its output. A failure, a timeout or too much output is a result too. */
export async function askProgram(program: string, args: readonly string[], { timeoutMs, env, input = '' }: AskOptions) {
  // Loaded on use: most starts run no program.
  const { execa } = await import('execa');
  const { failed, stdout, stderr } = await execa(program, args, {
    ...{ reject: false, input, timeout: timeoutMs, maxBuffer: answerMaxBytes },
    ...(env === undefined ? {} : { env, extendEnv: false }),
  });
  return { failed, stdout, stderr };
}
