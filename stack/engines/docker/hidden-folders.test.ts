import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { hiddenIn } from './hidden-folders.ts';

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-hidden-')));
  for (const name of ['secrets', 'data', 'state', 'logs']) mkdirSync(join(dir, 'home/svc', name), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

const hidden = (...allowed: readonly string[]) => Object.keys(hiddenIn(allowed, installationIn(join(dir, 'home/svc'))));
const below = (folder: string) => ['secrets', 'data', 'state', 'logs'].map((name) => join(folder, name));

test('it is hidden under the name that the container sees it by, whatever links lead there', () => {
  symlinkSync(join(dir, 'home'), join(dir, 'link'));
  expect(hidden(join(dir, 'link'))).toEqual(below(join(dir, 'link/svc')));
  expect(hidden(dir)).toEqual(below(join(dir, 'home/svc')));
  expect(hidden('/')).toEqual(below(join(dir, 'home/svc')));
});

test('what is beside it, or is named itself, is seen', () => {
  expect(hidden(join(dir, 'home/sv'), join(dir, 'home/svc/secrets'), '/nowhere')).toEqual([]);
});
