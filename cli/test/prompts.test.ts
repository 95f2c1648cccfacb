import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { foreignServers } from '../../stack/test/foreign-servers.ts';
import { type Answer, hasTerminal, runAtTerminal, type TerminalRun } from './run-at-terminal.ts';
import { withRunningPlatform } from './running-platform.ts';

/** Every kind of prompt, at a real terminal. Those of svc init are in its own suite. */
interface Outcome {
  readonly code: number;
  readonly says: string;
}

interface Prompt {
  readonly args: readonly string[];
  readonly question: string;
  /** Answers to earlier questions. */
  readonly before?: readonly Answer[];
  /** Answers to later ones. */
  readonly after?: readonly Answer[];
  /** The outcome of Enter alone. */
  readonly enter: Outcome;
  /** A typed or pasted answer, often with spaces at its end, and its outcome. */
  readonly typed: Outcome & {
    readonly text: string;
    readonly isSecret?: boolean;
    /** Default: those of the prompt. */
    readonly args?: readonly string[];
  };
}

const secret = 'hunter2-and-more';
/** An MCP server that says how long its secret is, and ends. */
const measuring = ['--', process.execPath, '-e', 'console.error("length", process.env.TOKEN?.length);process.exit(3)'];

const prompts: Readonly<Record<string, Prompt>> = {
  'a question for yes or no': {
    args: ['skill', 'remove', 'shared'],
    question: 'Remove the skill "shared"?',
    enter: { code: 130, says: 'Nothing was removed.' },
    typed: { text: 'n', code: 130, says: 'Nothing was removed.' },
  },
  'a choice of two': {
    args: ['keys', 'create', 'chosen'],
    question: 'Which tools does an agent with this key list from the start?',
    enter: { code: 0, says: 'This key is shown only once.' },
    typed: {
      args: ['keys', 'create', 'other'],
      ...{ text: '\u001b[B', code: 0, says: 'This key is shown only once.' },
    },
  },
  'a choice of many': {
    args: ['connect'],
    question: 'Which agent do you connect?',
    after: [{ at: 'Create an API key', type: '\r' }],
    enter: { code: 0, says: '/mcp' },
    typed: { text: '\u001b[B', code: 0, says: '/mcp' },
  },
  'a name to type': {
    args: ['workspace', 'remove', 'Doomed'],
    question: 'Type the name of the workspace (Doomed)',
    enter: { code: 2, says: 'The name of this workspace is "Doomed", not "".' },
    typed: { text: 'Doomed  ', code: 0, says: 'Removed workspace Doomed.' },
  },
  'a passphrase': {
    args: ['backup', '--with-secrets'],
    question: 'Passphrase of the archive',
    enter: { code: 2, says: 'The passphrase has fewer than 12 characters.' },
    typed: { text: 'short ', code: 2, says: 'The passphrase has fewer than 12 characters.', isSecret: true },
  },
  'a secret variable': {
    args: ['server', 'add', 'measured', '--env', 'TOKEN', ...measuring],
    question: 'Value of the variable TOKEN',
    enter: { code: 2, says: 'The variable TOKEN has no value.' },
    typed: { text: `${secret}  `, code: 1, says: `length ${secret.length}`, isSecret: true },
  },
  'a value of an imported file': {
    args: ['server', 'import', 'mcp.json'],
    question: 'The key of second',
    before: [{ at: 'Add second?', type: 'y\r' }],
    enter: { code: 1, says: 'refused' },
    typed: { text: `${secret} `, code: 0, says: 'created', isSecret: true },
  },
  'a key to test': {
    args: ['keys', 'test'],
    question: 'API key',
    enter: { code: 3, says: 'The key is empty.' },
    typed: { text: `SVA_${secret}  `, code: 3, says: 'The key is refused', isSecret: true },
  },
};

describe.skipIf(!hasTerminal)('at a terminal', () => {
  const platform = withRunningPlatform();
  const changes = async () => (await platform.svc('audit', '--json')).stdout;
  const run = (
    { args, before = [], after = [] }: Prompt,
    answer: Answer,
    more: { columns?: number; env?: Record<string, string> },
  ) => runAtTerminal(args, { cwd: platform.dir(), env: {}, ...more, answers: [...before, answer, ...after] });

  const expectOutcome = ({ code, seen, isSane }: TerminalRun, outcome: Outcome) => {
    // A narrow terminal breaks the lines.
    const words = seen.replaceAll(/\s+/g, ' ');
    expect([code, isSane, words]).toEqual([outcome.code, true, expect.stringContaining(outcome.says)]);
  };

  beforeAll(async () => {
    const servers = { second: { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': `\${input:the-key}` } } };
    const inputs = [{ id: 'the-key', description: 'The key of second' }];
    writeFileSync(join(platform.dir(), 'mcp.json'), JSON.stringify({ inputs, servers }));
    await platform.svc('server', 'add', 'shared', '--share', '--', ...foreignServers.everything);
    await platform.svc('workspace', 'create', 'Doomed');
  });

  test.each(Object.entries(prompts))(
    '%s',
    async (_, prompt) => {
      const { question: at, enter, typed } = prompt;
      const before = await changes();
      for (const [type, columns] of [
        ['\u0003', 80],
        ['\u0004', 120],
      ] as const) {
        const { code, seen, raw, isSane } = await run(prompt, { at, type }, { columns });
        expect([code, isSane, seen.includes('Error')]).toEqual([130, true, false]);
        // NO_COLOR: moving the cursor is allowed, and a colour is not.
        expect(raw.split('\u001b[').filter((sequence) => /^[\d;]*m/.test(sequence))).toEqual([]);
      }
      expect(await changes()).toBe(before);
      expectOutcome(await run(prompt, { at, type: '\r', columns: 40 }, { columns: 120, env: { TERM: 'dumb' } }), enter);
      const other = { ...prompt, args: typed.args ?? prompt.args };
      const answered = await run(other, { at, type: `${typed.text}\r` }, { env: { NO_COLOR: '' } });
      expectOutcome(answered, typed);
      if (typed.isSecret) expect(answered.raw).not.toContain(typed.text.trim());
    },
    60_000,
  );

  test.each([
    ['a choice of two', ['keys', 'create', 'taken'], 'A key named "taken" exists already.'],
    [
      'a secret variable',
      ['server', 'add', 'shared', '--env', 'TOKEN', ...measuring],
      'Another MCP server is named "shared" already.',
    ],
  ])('a name that is taken is refused before %s', async (prompt, args, says) => {
    await platform.svc('keys', 'create', 'taken');
    const { code, seen } = await runAtTerminal(args, { cwd: platform.dir(), env: {}, answers: [] });
    expect([code, seen]).toEqual([5, expect.stringContaining(says)]);
    expect(seen).not.toContain(prompts[prompt]?.question);
  });

  test('Ctrl-T does not reveal a secret', async () => {
    const { seen } = await run(
      prompts['a key to test'] ?? expect.fail(),
      { at: 'API key', type: `${secret}\u0014\r` },
      {},
    );
    expect(seen).not.toContain(secret);
  });
});
