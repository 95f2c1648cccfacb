#!/usr/bin/env node
/* Plain old JavaScript: this file also runs where Node is too old for the rest, and says what to type instead. */
'use strict';

var fs = require('fs');
var path = require('path');
var major = Number(process.versions.node.split('.')[0]);
var wanted = 24;
var typed = process.argv.slice(2);

function quoted(word) {
  return /^[A-Za-z0-9_.:@/=-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

// The folder that holds node_modules with this package.
var home = __dirname.split(path.sep + 'node_modules' + path.sep)[0];

function tooOld() {
  // npx finds packages that are installed here or in a folder above.
  var installed = home !== __dirname && (process.cwd() + path.sep).indexOf(home + path.sep) === 0;
  if (/[\\/]_npx[\\/]/.test(home)) return fetchedTooOld();
  var command = installed ? ['svc'] : ['node', quoted(__filename)];
  var once = '  npx -y -p node@' + wanted + ' -c ' + quoted(command.concat(typed.map(quoted)).join(' '));
  var problem = 'svc needs Node ' + wanted + ' or newer; this is Node ' + process.versions.node + '. ';
  var lines = installed
    ? [
        problem + 'Give this folder one of its own, once:',
        '',
        '  npm install node@' + wanted,
        '',
        'Every command here then uses that one. Or fetch it for this command alone:',
        '',
        once,
        '',
        'Either leaves your own Node as it is.',
      ]
    : [problem + 'Fetch it for this one command, which leaves your own Node as it is:', '', once];
  return lines.concat('').join('\n');
}

/** npx fetched this package, and fetches a Node beside it as easily. */
function fetchedTooOld() {
  var own = require('../package.json');
  return [
    'svc needs Node ' + wanted + ' or newer; this is Node ' + process.versions.node + '.',
    'Fetch one for this command, which leaves your own Node as it is:',
    '',
    '  npx -y -p node@' + wanted + ' -p ' + own.name + '@' + own.version + ' svc ' + typed.map(quoted).join(' '),
    '',
  ].join('\n');
}

/** The Node of the package `node`, installed beside this one; null where it is missing, or too old as well. */
function nodeBeside() {
  var folder = path.join(home, 'node_modules', 'node');
  var program = path.join(folder, 'bin', 'node');
  var version = '';
  try {
    version = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
    return Number(version.split('.')[0]) >= wanted && fs.existsSync(program) ? program : null;
  } catch (_) {
    return null;
  }
}

/** Runs the command with another Node, and ends as it does. */
function runWith(node) {
  var child = require('child_process').spawn(node, ['--', __filename].concat(typed), { stdio: 'inherit' });
  var signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  signals.forEach((signal) => {
    process.on(signal, () => child.kill(signal));
  });
  child.on('error', () => {
    process.stderr.write(tooOld());
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    signals.forEach((one) => {
      process.removeAllListeners(one);
    });
    if (signal !== null) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}

/** The version flag alone, or with shared flags. */
function asksVersion() {
  var isVersion = (word) => word === '--version' || word === '-v';
  return typed.some(isVersion) && typed.every((word) => isVersion(word) || /^--(json|quiet|no-input)$/.test(word));
}

function version() {
  var own = require('../package.json').version;
  var machine = process.platform + '-' + process.arch;
  if (typed.indexOf('--json') === -1) return 'svc ' + own + ' node ' + process.versions.node + ' ' + machine;
  return JSON.stringify({ version: own, node: process.versions.node, platform: machine });
}

/** A user without an entry in the list of users, as in a service of systemd: Node throws where oclif asks for it. */
function provideUser() {
  try {
    require('os').userInfo();
  } catch (_) {
    // As systemd and Docker give them. MCP servers get other homes where the runtime may not write.
    process.env.HOME = process.env.HOME || '/';
    process.env.SHELL = process.env.SHELL || '/bin/sh';
  }
}

var completes = typed[0] === '__complete';

/** As the command reports it: it loads, it runs, or it answers Ctrl-C itself. */
var phase = 'loading';

/** Ends at Ctrl-C. Removing this listener would lose a signal that came while Node loaded the code. */
function interrupted() {
  if (phase === 'answering') return;
  var message = phase === 'loading' ? 'Interrupted before the command began. Nothing was changed.' : 'Interrupted.';
  if (typed.indexOf('--json') === -1) process.stderr.write(message + '\n');
  else process.stdout.write(JSON.stringify({ error: { code: 'cancelled', message: message } }) + '\n');
  process.exit(130);
}

provideUser();
if (process.platform === 'win32') {
  process.stderr.write(
    'svc runs on Linux and macOS; on Windows run it inside WSL: https://learn.microsoft.com/windows/wsl\n',
  );
  process.exitCode = 2;
} else if (major < wanted && completes) {
  // A message would stand in the line that a person types.
  process.exitCode = 2;
} else if (major < wanted) {
  if (nodeBeside() === null) {
    process.stderr.write(tooOld());
    process.exitCode = 2;
  } else {
    runWith(nodeBeside());
  }
} else if (asksVersion()) {
  // Answered here, because loading the rest would take longer than the answer.
  process.stdout.write(version() + '\n');
} else if (completes) {
  require('node:module').enableCompileCache();
  import('./cli/complete/main.js').then((main) => main.complete(typed.slice(1), path.join(__dirname, '..')));
} else {
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  process.on('svcPhase', (now) => {
    phase = now;
  });
  require('node:module').enableCompileCache();
  import('./cli/main.js').then((main) => main.runCommandLine(typed, path.join(__dirname, '..')));
}
