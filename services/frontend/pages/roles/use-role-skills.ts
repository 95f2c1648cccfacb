import { useCallback, useMemo, useRef, useState } from 'react';
import { refreshShown, send } from '../../graphql/client.ts';
import { type RoleRowFragment, updateRoleMutation } from '../../graphql/generated/operations.ts';
import { type ShownError, shownErrorOf } from '../../graphql/shown-error.ts';

export interface RoleSkills {
  /** As the person chose it, if the backend has not answered yet. */
  readonly has: (role: RoleRowFragment, skill: string) => boolean;
  readonly isChanging: (role: RoleRowFragment, skill: string) => boolean;
  readonly toggle: (role: RoleRowFragment, skill: string) => void;
  /** The latest refusal. */
  readonly refusal: ShownError | null;
}

interface RoleState {
  /** What the person chose, by skill; each stays until the backend has answered to it. */
  readonly chosen: ReadonlyMap<string, boolean>;
  /** The latest answer to a change, which may be newer than the row. */
  readonly answered: RoleRowFragment | null;
}

const untouched: RoleState = { chosen: new Map(), answered: null };

/**
 * Which skills roles have, changed at once and refused later. A role is one change at a time: what a person chooses
 * meanwhile is sent together, based on the version that the backend answered.
 */
export function useRoleSkills(workspace: string): RoleSkills {
  const [states, setStates] = useState<ReadonlyMap<string, RoleState>>(new Map());
  const [refusal, setRefusal] = useState<ShownError | null>(null);
  const latest = useRef(states);
  const sending = useRef(new Set<string>());

  const change = useCallback((role: string, next: (before: RoleState) => RoleState) => {
    latest.current = new Map(latest.current).set(role, next(latest.current.get(role) ?? untouched));
    setStates(latest.current);
  }, []);

  const sendChosen = useCallback(
    async (row: RoleRowFragment) => {
      if (sending.current.has(row.id)) return;
      sending.current.add(row.id);
      try {
        for (;;) {
          const { chosen, answered } = latest.current.get(row.id) ?? untouched;
          if (chosen.size === 0) return;
          const base = newest(row, answered);
          const { updateRole } = await send(updateRoleMutation, {
            ...{ workspace, id: row.id },
            input: { skills: skillsAfter(base, chosen), ifVersion: base.version },
          });
          change(row.id, (before) => ({ chosen: without(before.chosen, chosen), answered: updateRole }));
        }
      } catch (error) {
        change(row.id, () => untouched);
        setRefusal(shownErrorOf(error));
        refreshShown();
      } finally {
        sending.current.delete(row.id);
      }
    },
    [workspace, change],
  );

  const toggle = useCallback(
    (row: RoleRowFragment, skill: string) => {
      setRefusal(null);
      change(row.id, (before) => ({
        ...before,
        chosen: new Map(before.chosen).set(skill, !hasSkill(row, before, skill)),
      }));
      void sendChosen(row);
    },
    [change, sendChosen],
  );

  return useMemo(
    () => ({
      has: (row, skill) => hasSkill(row, states.get(row.id) ?? untouched, skill),
      isChanging: (row, skill) => states.get(row.id)?.chosen.has(skill) ?? false,
      ...{ toggle, refusal },
    }),
    [states, toggle, refusal],
  );
}

function hasSkill(row: RoleRowFragment, { chosen, answered }: RoleState, skill: string): boolean {
  return chosen.get(skill) ?? idsOf(newest(row, answered)).has(skill);
}

const sets = new WeakMap<RoleRowFragment, ReadonlySet<string>>();

/** A row has up to 1,000 skills, and each of its cells asks. */
function idsOf(row: RoleRowFragment): ReadonlySet<string> {
  const known = sets.get(row) ?? new Set(row.skills.map(({ id }) => id));
  sets.set(row, known);
  return known;
}

/** An answer to a change may be newer than a row that was asked for before. */
export function newest(row: RoleRowFragment, answered: RoleRowFragment | null): RoleRowFragment {
  return answered !== null && answered.version > row.version ? answered : row;
}

function skillsAfter(base: RoleRowFragment, chosen: ReadonlyMap<string, boolean>): readonly string[] {
  const kept = [...idsOf(base)].filter((id) => chosen.get(id) !== false);
  const added = [...chosen].flatMap(([id, isChosen]) => (isChosen && !idsOf(base).has(id) ? [id] : []));
  return [...kept, ...added];
}

/** What the person has chosen since. */
function without(
  present: ReadonlyMap<string, boolean>,
  sent: ReadonlyMap<string, boolean>,
): ReadonlyMap<string, boolean> {
  return new Map([...present].filter(([id, isChosen]) => sent.get(id) !== isChosen));
}
