'use strict';
// `node .config/ready.cjs TASK`: makes a bare clone ready, then runs TASK under the pinned Node.
// Nothing is installed yet and the machine's own Node may be 20, so this is plain CommonJS without a dependency.

const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const modules = path.join(root, 'node_modules');
const bin = path.join(modules, '.bin');

/** `entry` runs under the pinned Node from the repository's folder. With `built`, dist/ is updated first. */
const tasks = {
  start: {
    entry: 'dist/start.js',
    built: true,
    absent: 'the demo is built from stack/demo/start.ts, which is not there',
  },
  test: { entry: '.config/test.ts', built: true },
  build: { entry: '.config/build.ts' },
  check: { entry: '.config/check.ts' },
  operations: { entry: '.config/operations.ts' },
  words: { entry: '.config/words.ts' },
  pages: { entry: '.config/pages.ts' },
  bench: { entry: 'stack/test/bench/main.ts', built: true, absent: 'there is no bench in this checkout' },
  chaos: { entry: 'stack/test/chaos/main.ts', built: true, absent: 'there is no chaos in this checkout' },
};

// npm passes Ctrl-C on to its script although the terminal has already sent it. The same signal within this time is a
// repetition; later, a person pressed the keys again.
const echoMs = 200;

// Every wait has a limit, such as for a registry that does not answer or a build that is stuck.
const installLimitMs = 15 * 60_000;
const buildLimitMs = 3 * 60_000;

// No scripts, because no package here needs a postinstall. The includes override a person's own npm settings.
const installFlags = '--ignore-scripts --include=dev --include=optional --engine-strict=false --loglevel=error'.split(
  ' ',
);

main(process.argv.slice(2));

function main([name, ...args]) {
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  if (task === undefined) fail(`"${name}" is not a task. Tasks: ${Object.keys(tasks).join(', ')}.`, 2);
  if (process.platform === 'win32') fail('Linux and macOS only. On Windows, run this in WSL.', 2);
  if (!isInstalled()) install();
  const node = chooseNode();
  if (task.built) build(node);
  if (!fs.existsSync(path.join(root, task.entry)))
    fail(`"${name}" cannot run: ${task.absent ?? `${task.entry} is missing`}.`);
  run(node, task.entry, args);
}

/** True when node_modules matches package-lock.json. npm writes its own list of installed packages last. */
function isInstalled() {
  const wanted = packagesIn(path.join(root, 'package-lock.json'));
  const present = packagesIn(path.join(modules, '.package-lock.json'));
  if (wanted === null) fail('package-lock.json is missing or damaged: restore it from the repository.');
  if (present === null) return false;
  // An optional package may be missing, because it is for another platform.
  const same = (name) => {
    const have = present[name];
    return have === undefined
      ? wanted[name].optional === true
      : have.version === wanted[name].version && have.integrity === wanted[name].integrity;
  };
  const names = Object.keys(wanted).filter((name) => name.startsWith('node_modules/'));
  return names.every(same) && Object.keys(present).every((name) => name in wanted);
}

function packagesIn(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

function install() {
  say('Installing dependencies…');
  const started = Date.now();
  const result = spawnSync('npm', ['ci', ...installFlags], {
    cwd: root,
    // npm must not run under the Node that it is about to replace.
    env: { ...process.env, PATH: pathWithoutBin() },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: installLimitMs,
  });
  if (result.error) fail(`The dependencies could not be installed: ${result.error.message}.`);
  if (result.signal) endBy(result.signal);
  if (result.status !== 0) fail('The dependencies could not be installed; npm says why above.', result.status);
  say(`Installed in ${seconds(started)}.`);
}

/** The pinned Node. If the platform has none (Apple silicon), the machine's own Node if it is new enough. */
function chooseNode() {
  const pinned = path.join(bin, 'node');
  if (major(pinned) >= 24) return pinned;
  const own = path.relative(modules, process.execPath).startsWith('..') ? process.execPath : 'node';
  if (major(own) >= 24) return own;
  fail(
    `No pinned Node 24 runs on ${os.platform()} ${os.arch()}, and this machine's own Node is ${process.version}. Install Node 24 or newer, then try again.`,
  );
}

function major(node) {
  const result = spawnSync(node, ['--version'], { encoding: 'utf8', env: { ...process.env, PATH: pathWithoutBin() } });
  return result.status === 0 ? Number.parseInt(result.stdout.slice(1), 10) : 0;
}

function build(node) {
  const result = spawnSync(node, ['.config/build.ts', '--if-changed'], {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 2, 2],
    timeout: buildLimitMs,
  });
  if (result.error) fail(`dist/ was not built: ${result.error.message}.`);
  if (result.signal) endBy(result.signal);
  if (result.status !== 0) process.exit(result.status);
}

function run(node, entry, args) {
  // The child gets a separate session, so that a signal arrives once, from here. It ends with its parent (the ipc
  // channel), so that nothing outlives a kill -9 of this process.
  const child = spawn(node, ['--require', path.join(__dirname, 'end-with-parent.cjs'), entry, ...args], {
    cwd: root,
    env: environment(),
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const lastAt = new Map();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const now = Date.now();
      const echo = now - (lastAt.get(signal) ?? 0) < echoMs;
      lastAt.set(signal, now);
      if (!echo) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`${entry} could not be started: ${error.message}.`));
  child.on('exit', (code, signal) => (signal === null ? process.exit(code) : endBy(signal)));
}

function environment() {
  return { ...process.env, PATH: [bin, pathWithoutBin()].join(path.delimiter) };
}

function pathWithoutBin() {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((entry) => entry !== bin)
    .join(path.delimiter);
}

/** Ends this process in the same way as the child, so that npm and shells see the same result. */
function endBy(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // SIGINT and similar signals arrive on the next turn. A signal without a default action in Node ends here.
  setTimeout(() => process.exit(1), 1000);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text, code = 1) {
  say(text);
  process.exit(code);
}
