import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './violation.ts';

// Built from parts, so that this file does not contain the texts that it searches for.
const homeFolders = ['work', 'root', 'home'].map((name) => `/${name}/`);

/** Lines of tracked and new files that name a path of someone's machine or a package registry. */
export function machineTraces(root: string): Violation[] {
  const forbidden = [...homeFolders, `${root}/`, ...registryHosts(root)];
  return filesInGit(root).flatMap((path) => tracesIn(root, path, forbidden));
}

export function tracesIn(root: string, path: string, forbidden: readonly string[]): Violation[] {
  const text = textOf(join(root, path));
  if (text === null || !forbidden.some((trace) => text.includes(trace))) return [];
  return text.split('\n').flatMap((line, index) => {
    const trace = forbidden.find((candidate) => contains(line, candidate));
    return trace === undefined
      ? []
      : [{ path, line: index + 1, message: `contains "${trace}", which is about one machine` }];
  });
}

/** A path counts only at its beginning, not in the middle of another path or of an address. */
function contains(line: string, trace: string): boolean {
  for (let at = line.indexOf(trace); at !== -1; at = line.indexOf(trace, at + 1)) {
    if (!trace.startsWith('/') || at === 0 || !/[\w.~/)}\]*-]/.test(line.charAt(at - 1))) return true;
  }
  return false;
}

function filesInGit(root: string): string[] {
  const listed = run(root, 'git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return [...new Set(listed.split('\0').filter((path) => path !== ''))];
}

/** The hosts of all configured registries, which only npm knows. */
export function registryHosts(root: string): string[] {
  const config: unknown = JSON.parse(run(root, 'npm', ['config', 'list', '--json', '--loglevel=error']));
  const settings = typeof config === 'object' && config !== null ? Object.entries(config) : [];
  const registries = settings.filter(([name, value]) => name.endsWith('registry') && typeof value === 'string');
  return [...new Set(registries.map(([, value]) => new URL(String(value)).host))];
}

function run(root: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`"${command} ${args.join(' ')}" failed: ${error?.message ?? stderr.trim()}`);
  return stdout;
}

/** Null for a file that is not text, or that git lists and the work tree lacks. */
function textOf(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return readlinkSync(file);
  if (!found?.isFile()) return null;
  const text = readFileSync(file, 'utf8');
  return text.includes('\0') ? null : text;
}
