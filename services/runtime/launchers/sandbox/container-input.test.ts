import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { entry, firstInputLine } from './container-input.ts';

const [sh = '', ...rest] = entry;
const say = 'console.log(JSON.stringify([process.argv.slice(1), process.env, require("fs").readFileSync(0, "utf8")]))';

test('variables and arguments arrive unchanged, and the input after them is left to the program', () => {
  const odd = ['', ' ', "it's", '"$HOME" `id` $(id) \\ \\n', 'two\nlines\n', '\r', 'é€😀', ';exit 1', '-n', '!*?[a]'];
  const env = { ODD: odd.join('\n'), told: 'mine', n: '1', PATH: process.env.PATH ?? '', IFS: 'x' };
  const line = firstInputLine({ env, command: process.execPath, args: ['-e', say, '--', ...odd] });
  expect(line.indexOf('\n')).toBe(line.length - 1);
  const said = execFileSync(sh, rest, { input: `${line}{"jsonrpc"}\nmore`, env: { TINI_KILL_PROCESS_GROUP: '1' } });
  const [args, seen, left] = JSON.parse(String(said));
  expect(args).toEqual(odd);
  expect(seen).toMatchObject({ ODD: env.ODD, told: 'mine', n: '1' });
  expect(seen).not.toHaveProperty('TINI_KILL_PROCESS_GROUP');
  expect(left).toBe('{"jsonrpc"}\nmore');
});

test('a name that is invalid in a shell is left out', () => {
  const line = firstInputLine({
    env: { 'npm_config_//host/:_auth': 'x', 'A;id': 'y', B: 'z' },
    command: 'true',
    args: [],
  });
  expect(line).toBe("unset TINI_KILL_PROCESS_GROUP; export B='z'; exec 'true'\n");
});

test('without a first line nothing runs', () => {
  expect(() => execFileSync(sh, rest, { input: 'touch /no', stdio: 'pipe' })).toThrow();
});
