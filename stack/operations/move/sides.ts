import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import { containersName } from '../../state/containers-record.ts';
import { busNames, graphNames } from '../../state/data-files.ts';
import { syncFolder, writeDurably } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { applyChanges, changesFor } from './definition-changes.ts';
import { keptDirOf, type MoveState, removeMove, stagingDirOf, writeMove } from './move-state.ts';

const definitionName = 'svc.yaml';

/** One visible step of putting a side in its place. Each may be done again, wherever it was cut short. */
export type SideStep = 'set-aside' | 'put-in-place' | 'write-definition';
type OnStep = (step: SideStep) => void;

type Names<Kind extends string> = Readonly<Record<Kind, readonly string[]>>;

/** Names in data/ of what one side keeps, and of what the other has for it. What is in containers has nothing there. */
interface Counterparts {
  readonly old: readonly string[];
  readonly fresh: readonly string[];
}

function counterpartsOf({ from, to, folders }: MoveState): readonly Counterparts[] {
  const isOther = from.engine !== to.engine;
  const between = <Kind extends string>(names: Names<Kind>, old: Kind, fresh: Kind) => ({
    // What lies there of an earlier time would be taken for data of processes.
    old:
      from.engine === 'docker'
        ? []
        : to.engine === 'docker'
          ? Object.values<readonly string[]>(names).flat()
          : names[old],
    fresh: to.engine === 'docker' ? [] : names[fresh],
  });
  return [
    { ...between(busNames, from.topology, to.topology), differ: isOther || from.topology !== to.topology },
    { ...between(graphNames, from.graph, to.graph), differ: isOther || from.graph !== to.graph },
    { ...between({ own: folders }, 'own', 'own'), differ: isOther },
  ].filter(({ differ }) => differ);
}

/** Makes the new side the one that is used: what only the old one has joins what is kept, the new one takes its place, and svc.yaml says so. */
export function switchSides(installation: Installation, state: MoveState, onStep: OnStep): void {
  const { dataDir, definitionFile, stateDir } = installation;
  const staging = stagingDirOf(installation);
  const kept = keptDirOf(installation, state);
  const counterparts = counterpartsOf(state);
  onStep('set-aside');
  clearOnce(installation, state, () => {
    for (const { old, fresh } of counterparts) {
      rename(dataDir, kept, old);
      // Of an earlier time when svc.yaml said so. What was carried here takes its place.
      if (isAnyIn(staging, fresh)) rename(dataDir, kept, fresh);
    }
    if (state.to.engine === 'process') rename(stateDir, kept, [containersName]);
  });
  onStep('put-in-place');
  for (const { fresh } of counterparts) rename(staging, dataDir, fresh);
  onStep('write-definition');
  const before = readFileSync(join(kept, definitionName), 'utf8');
  const changes = changesFor(checkDefinition(before, definitionFile), state.to);
  writeDefinition(installation, applyChanges(before, changes));
  rmSync(staging, { recursive: true, force: true });
  writeMove(installation, { ...state, phase: 'moved', isCleared: false });
}

/** Puts the side that was kept in its place again; the other one is removed. */
export function restoreSide(installation: Installation, state: MoveState, onStep: OnStep): void {
  const { dataDir, stateDir } = installation;
  const kept = keptDirOf(installation, state);
  const counterparts = [...counterpartsOf(state), ...(isSameFile(state) ? [sameFile] : [])];
  onStep('set-aside');
  clearOnce(installation, state, () => {
    for (const { old, fresh } of counterparts) {
      remove(dataDir, fresh);
      // Made anew since, for nobody. The log of one database must never meet another.
      if (isAnyIn(kept, old)) remove(dataDir, old);
    }
    if (state.from.engine === 'process') remove(stateDir, [containersName]);
  });
  onStep('put-in-place');
  for (const { old } of counterparts) rename(kept, dataDir, old);
  if (state.from.engine === 'docker') rename(kept, stateDir, [containersName]);
  onStep('write-definition');
  const before = join(kept, definitionName);
  if (existsSync(before)) writeDefinition(installation, readFileSync(before, 'utf8'));
}

/** Whoever goes on after this came to its end must not take what has been put in place for what stood there. */
function clearOnce(installation: Installation, state: MoveState, clear: () => void): void {
  if (state.isCleared) return;
  clear();
  writeMove(installation, { ...state, isCleared: true });
}

function isSameFile({ from, to }: MoveState): boolean {
  return from.graph === to.graph && from.engine === to.engine;
}

/** A file that both sides have is used by the new one, and a copy is kept. */
const sameFile: Counterparts = { old: graphNames.sqlite, fresh: [] };

/** Forgets a move: what is kept of the old side goes first, so that it is never forgotten and still there. */
export function removeKept(installation: Installation, state: MoveState): void {
  rmSync(keptDirOf(installation, state), { recursive: true, force: true });
  rmSync(stagingDirOf(installation), { recursive: true, force: true });
  removeMove(installation);
}

export function keepDefinition(installation: Installation, state: MoveState): void {
  const text = readFileSync(installation.definitionFile, 'utf8');
  writeDurably(join(keptDirOf(installation, state), definitionName), text);
}

/** What svc.yaml said before the move. */
export function readKeptDefinition(installation: Installation, state: MoveState): Definition {
  const file = join(keptDirOf(installation, state), definitionName);
  return checkDefinition(readFileSync(file, 'utf8'), file);
}

function writeDefinition({ definitionFile }: Installation, text: string): void {
  writeDurably(definitionFile, text, statSync(definitionFile).mode & 0o777);
}

function rename(from: string, to: string, names: readonly string[]): void {
  for (const name of names) if (existsSync(join(from, name))) renameSync(join(from, name), join(to, name));
  syncFolder(to);
}

function isAnyIn(dir: string, names: readonly string[]): boolean {
  return names.some((name) => existsSync(join(dir, name)));
}

function remove(dir: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(dir, name), { recursive: true, force: true });
}
