import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// vitest loads it in each worker before its suite. Installations of tests stay out of the list of the person who runs the tests.
const state = mkdtempSync(join(tmpdir(), 'svc-test-state-'));
process.env.XDG_STATE_HOME = state;
// Without it, each installation of a test would compile the platform anew.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'svc-test-compile-cache');
process.on('exit', () => rmSync(state, { recursive: true, force: true }));
