import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTimeoutMs, testTimeoutMs } from './platform.ts';
import { processesAreShown } from './running-processes.ts';
import { type Finding, formsOf } from './secret-search.ts';
import { newSecret, SecretsInUse } from './secrets-in-use.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** Searches every place that a secret could reach. A planted secret first proves that the search works. */
let used: SecretsInUse;

beforeAll(async () => {
  used = await SecretsInUse.start();
}, startTimeoutMs);
afterAll(() => used[Symbol.asyncDispose](), startTimeoutMs);

interface Place {
  readonly look: () => readonly Finding[];
  /** Writes a text there, and returns a function that removes it. */
  readonly plant: (text: string) => Promise<() => unknown>;
}

function list(texts: () => string[], name: string): Place {
  return {
    look: () => texts().flatMap((text) => used.search.inText(text, `${name}: ${text.slice(0, 40)}…`)),
    plant: async (text) => {
      texts().push(`{"a":"${text}"}`);
      return () => texts().pop();
    },
  };
}

function running(args: readonly string[], env: Readonly<Record<string, string>>): Promise<() => unknown> {
  // A shell starts the program, because a child of the test itself may hold secrets that it was given.
  const child: ChildProcess = spawn(
    '/bin/sh',
    ['-c', '"$0" "$@" & echo; wait', process.execPath, '-e', 'setInterval(() => {}, 1000)', ...args],
    {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  );
  return once(child.stdout ?? child, 'data').then(() => () => process.kill(-(child.pid ?? 0), 'SIGKILL'));
}

/** Secrets in all files of the installation, except files that must hold secrets. */
function inFiles(): readonly Finding[] {
  const { dir, secretsDir } = used.platform.installation;
  return used.search.inFolder(dir).filter(({ where }) => !where.startsWith(secretsDir));
}

const places: Readonly<Record<string, Place>> = {
  'files of the installation': {
    look: inFiles,
    plant: async (text) => {
      const folder = join(used.platform.installation.stateDir, 'deeper');
      mkdirSync(folder);
      writeFileSync(join(folder, 'planted.log'), `{"msg":"so it begins ${text}"}\n`);
      return () => rmSync(folder, { recursive: true });
    },
  },
  'a row of a database, in its log of writes': {
    look: inFiles,
    plant: async (text) => {
      const file = join(used.platform.installation.dataDir, 'planted.sqlite');
      const database = new DatabaseSync(file);
      database.exec('PRAGMA journal_mode = WAL; CREATE TABLE things (id TEXT, body BLOB)');
      // This text is long enough to spread over several pages.
      database
        .prepare('INSERT INTO things VALUES (?, ?)')
        .run('x', Buffer.from(`${'-'.repeat(4000)}${text}${'-'.repeat(9000)}`));
      return () => {
        database.close();
        for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
      };
    },
  },
  'what svc printed': list(() => used.platform.printed, 'svc'),
  'answers that tell of a failure': list(() => used.errors, 'error'),
};

const shownPlaces: Readonly<Record<string, Place>> = {
  'arguments of processes': { look: () => used.lookAtProcesses(), plant: (text) => running([text], {}) },
  'environments of processes': { look: () => used.lookAtProcesses(), plant: (text) => running([], { PLANTED: text }) },
};

function hasNoSecret(name: string, place: Place): void {
  test(`${name}: no secret, and every form of one that is planted is found`, async () => {
    expect(place.look().filter(({ secret }) => !secret.startsWith('planted'))).toEqual([]);
    const planted = newSecret();
    const secret = `planted in ${name}`;
    used.search.seek({ name: secret, value: planted });
    const forms = formsOf(Buffer.from(planted));
    const remove = await place.plant(forms.map(([, text]) => text.toString()).join(' '));
    try {
      await until(() => {
        const found = place.look().filter((one) => one.secret === secret);
        return forms.every(([form]) => found.some((one) => one.form === form));
      });
    } finally {
      await remove();
    }
  });
}

describe('wherever the platform writes', () => {
  for (const [name, place] of Object.entries(places)) hasNoSecret(name, place);

  test('and was there to be written: the places where they stood say so', () => {
    const log = readFileSync(join(used.platform.installation.logsDir, 'runtime.log'), 'utf8');
    const texts = { log, printed: used.platform.printed.join('') };
    const errors = used.errors.join('');
    for (const [name, text] of Object.entries(texts)) {
      expect([name, text.includes('the token is [secret]')]).toEqual([name, true]);
    }
    expect(log.includes('"level":"debug"')).toBe(true);
    expect(texts.printed.includes('typo')).toBe(true);
    // Agents learn that an MCP server failed, but nothing of its output.
    expect([errors.includes('failing'), errors.includes('the token is')]).toEqual([true, false]);
  });
});

describe.skipIf(!processesAreShown)('whatever runs', () => {
  for (const [name, place] of Object.entries(shownPlaces)) hasNoSecret(name, place);

  test('nor was there at any time', () => {
    expect([...used.shown.values()].filter(({ secret }) => !secret.startsWith('planted'))).toEqual([]);
  });
});
