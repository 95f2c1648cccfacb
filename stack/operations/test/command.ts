import { installationIn } from '../../state/installation.ts';
import { down } from '../down.ts';
import { up } from '../up.ts';

/** `svc up`, `svc up --foreground` and `svc down` without the command line around them, as a process that a test can kill. */
const [verb, dir = ''] = process.argv.slice(2);
const installation = installationIn(dir);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const { signal } = stopping;
const foreground = verb === 'foreground';
const { outcome } =
  verb === 'down'
    ? await down({ installation, signal })
    : await up({ env: process.env, installation, foreground, signal });
process.stdout.write(outcome);
