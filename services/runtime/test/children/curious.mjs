// Carries out its instructions, each as [what, path or pid], and answers with the result: the text, `done`, or the code of the
// error.
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { serve, text } from './stdio.mjs';

const attempts = {
  read: (file) => readFileSync(file, 'utf8'),
  list: (folder) => readdirSync(folder).join(' '),
  write(file) {
    writeFileSync(file, 'written');
    return 'done';
  },
  rename(path) {
    renameSync(path, `${path}-moved`);
    return 'done';
  },
  signal(pid) {
    process.kill(pid, 0);
    return 'done';
  },
  connect: (where) =>
    new Promise((resolve, reject) => {
      const socket = connect(where, () => resolve('done'));
      socket.on('error', reject).on('data', () => {});
    }),
  /** The environments of all visible processes. */
  environments: () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => tryTo(() => readFileSync(`/proc/${pid}/environ`, 'utf8')))
      .join('\n'),
  /** Files in /proc, except a process's own, that may be opened for writing. */
  writableInProc: () =>
    readdirSync('/proc', { recursive: false })
      .filter((name) => !/^(\d+|self|thread-self)$/.test(name))
      .flatMap((name) => below(`/proc/${name}`))
      // A file covered by /dev/null keeps nothing.
      .filter((file) => tryTo(() => statSync(file).isCharacterDevice()) !== true)
      .filter((file) => tryTo(() => writeFileSync(file, '', { flag: 'a' })) === undefined)
      .join(' '),
  hostname,
  fetch: async (url) => (await fetch(url)).text(),
};

/** The system has many settings: some of each kind stand for all. */
function below(path, depth = 0) {
  if (depth > 2) return [];
  const entries = tryTo(() => readdirSync(path));
  return Array.isArray(entries) ? entries.slice(0, 40).flatMap((name) => below(`${path}/${name}`, depth + 1)) : [path];
}

function tryTo(work) {
  try {
    return work();
  } catch ({ code }) {
    return code;
  }
}

serve({
  'tools/call': async ({ arguments: { tries } }) => {
    const results = [];
    for (const [what, given] of tries) {
      results.push(await Promise.try(() => attempts[what](given)).catch((error) => error.code ?? error.message));
    }
    return text(JSON.stringify(results));
  },
});
