import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { hiddenIn } from './container-plan.ts';

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-hidden-')));
  for (const name of ['secrets', 'data', 'state', 'logs']) mkdirSync(join(dir, 'home/svc', name), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

const hidden = (...allowed: readonly string[]) => Object.keys(hiddenIn(allowed, installationIn(join(dir, 'home/svc'))));
const below = (folder: string) => ['secrets', 'data', 'state', 'logs'].map((name) => join(folder, name));

test('the folder is hidden under its path in the container, through any links', () => {
  symlinkSync(join(dir, 'home'), join(dir, 'link'));
  expect(hidden(join(dir, 'link'))).toEqual(below(join(dir, 'link/svc')));
  expect(hidden(dir)).toEqual(below(join(dir, 'home/svc')));
  expect(hidden('/')).toEqual(below(join(dir, 'home/svc')));
});

test('a folder beside it, or one that is named itself, is visible', () => {
  expect(hidden(join(dir, 'home/sv'), join(dir, 'home/svc/secrets'), '/nowhere')).toEqual([]);
});
