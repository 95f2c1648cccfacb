// biome-ignore-all lint/a11y/useSemanticElements: cells that are placed by a virtual list cannot be those of a table
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { classNames } from '../../components/class-names.ts';
import { Icon } from '../../components/icon.tsx';
import type { RoleRowFragment, SkillNamesQuery } from '../../graphql/generated/operations.ts';
import type { RoleSkills } from './use-role-skills.ts';

export type SkillName = NonNullable<SkillNamesQuery['workspace']>['skills']['nodes'][number];

export interface RolesMatrixProps {
  readonly roles: readonly RoleRowFragment[];
  readonly skills: readonly SkillName[];
  readonly hasMoreRoles: boolean;
  readonly hasMoreSkills: boolean;
  readonly onNeedRoles: () => void;
  readonly onNeedSkills: () => void;
  readonly cells: RoleSkills;
  /** False: the cells only show. */
  readonly mayEdit: boolean;
  /** The role whose panel is open. */
  readonly openId: string | null;
  readonly onOpen: (role: RoleRowFragment) => void;
}

const rowHeight = 44;
const columnWidth = 128;
/** Cells outside the screen that exist, so that a fast scroll shows no gap. */
const overscan = 6;
const pageOfRows = 10;

/**
 * Skills in rows and roles in columns. Only cells on the screen exist in the document. Keyboard: the arrow keys move, Space
 * changes the cell, Enter opens the role.
 */
export function RolesMatrix(props: RolesMatrixProps) {
  const { roles, skills, hasMoreRoles, hasMoreSkills, onNeedRoles, onNeedSkills, cells, mayEdit, openId, onOpen } =
    props;
  const grid = useRef<HTMLDivElement>(null);
  const corner = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const id = useId();
  const at = {
    row: Math.max(0, Math.min(active.row, skills.length - 1)),
    column: Math.max(0, Math.min(active.column, roles.length - 1)),
  };
  const vertical = useVirtualizer({
    count: skills.length,
    getScrollElement: () => grid.current,
    estimateSize: () => rowHeight,
    scrollPaddingStart: rowHeight,
    overscan,
  });
  const horizontal = useVirtualizer({
    horizontal: true,
    count: roles.length,
    getScrollElement: () => grid.current,
    estimateSize: () => columnWidth,
    overscan,
  });
  const rows = vertical.getVirtualItems();
  const columns = horizontal.getVirtualItems();
  const needsSkills = hasMoreSkills && (rows.at(-1)?.index ?? 0) >= skills.length - overscan;
  const needsRoles = hasMoreRoles && (columns.at(-1)?.index ?? 0) >= roles.length - overscan;
  useEffect(() => {
    if (needsSkills) onNeedSkills();
  }, [needsSkills, onNeedSkills]);
  useEffect(() => {
    if (needsRoles) onNeedRoles();
  }, [needsRoles, onNeedRoles]);

  const moveTo = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(row, skills.length - 1)),
      column: Math.max(0, Math.min(column, roles.length - 1)),
    };
    setActive(next);
    vertical.scrollToIndex(next.row);
    showColumn(next.column);
  };
  /** The names of the skills cover the left edge, by a width that depends on the screen. */
  const showColumn = (column: number) => {
    const { current } = grid;
    if (current === null || corner.current === null) return;
    const room = current.clientWidth - corner.current.offsetWidth;
    const start = column * columnWidth;
    if (start < current.scrollLeft) current.scrollLeft = start;
    else if (start + columnWidth > current.scrollLeft + room) current.scrollLeft = start + columnWidth - room;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target !== grid.current) return;
    const [skill, role] = [skills[at.row], roles[at.column]];
    const step = steps[event.key];
    if (step !== undefined) moveTo(at.row + step[0], at.column + step[1]);
    else if (event.key === ' ' && skill !== undefined && role !== undefined) {
      if (mayEdit && !event.repeat) cells.toggle(role, skill.id);
    } else if (event.key === 'Enter' && role !== undefined) onOpen(role);
    else return;
    event.preventDefault();
  };

  return (
    <div className="overflow-hidden rounded-control border border-border bg-surface">
      <div
        ref={grid}
        role="grid"
        aria-label="Skills of roles"
        aria-readonly={!mayEdit}
        aria-rowcount={hasMoreSkills ? -1 : skills.length + 1}
        aria-colcount={hasMoreRoles ? -1 : roles.length + 1}
        aria-activedescendant={skills.length > 0 && roles.length > 0 ? `${id}-${at.row}-${at.column}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className={classNames(
          // The active cell shows the focus.
          skills.length > 0 && 'focus-visible:outline-none',
          'group relative max-h-[calc(100dvh-var(--spacing)*60)] overflow-auto -outline-offset-2 [--names:calc(var(--spacing)*36)] tablet:[--names:calc(var(--spacing)*60)]',
        )}
      >
        <div
          role="row"
          aria-rowindex={1}
          tabIndex={-1}
          className="sticky top-0 z-10 flex h-11 min-w-full border-border border-b bg-sunken text-12"
          style={{ width: `calc(var(--names) + ${horizontal.getTotalSize()}px)` }}
        >
          <div
            ref={corner}
            role="columnheader"
            aria-colindex={1}
            tabIndex={-1}
            className="sticky left-0 z-10 flex w-(--names) shrink-0 items-center border-border border-r bg-sunken px-4 text-quiet"
          >
            Skill
          </div>
          <div role="presentation" className="relative">
            {columns.map(({ index, start }) => {
              const role = roles[index];
              if (role === undefined) return null;
              return (
                <div
                  key={role.id}
                  role="columnheader"
                  aria-colindex={index + 2}
                  tabIndex={-1}
                  className="absolute top-0 h-11 p-0.5"
                  style={{ width: columnWidth, transform: `translateX(${start}px)` }}
                >
                  <button
                    type="button"
                    onClick={() => onOpen(role)}
                    title={role.name}
                    className={classNames(
                      'grid size-full content-center rounded-control px-1 text-center transition-colors hover:bg-hover',
                      role.id === openId && 'bg-accent-soft',
                    )}
                  >
                    <span className={classNames('truncate font-medium', !role.enabled && 'text-quiet')}>
                      {role.name}
                    </span>
                    {noteOf(role) !== '' && <span className="truncate text-quiet">{noteOf(role)}</span>}
                  </button>
                </div>
              );
            })}
          </div>
        </div>
        <div
          role="presentation"
          className="relative min-w-full"
          style={{
            width: `calc(var(--names) + ${horizontal.getTotalSize()}px)`,
            height: vertical.getTotalSize(),
          }}
        >
          {rows.map(({ index, start }) => {
            const skill = skills[index];
            if (skill === undefined) return null;
            return (
              <div
                key={skill.id}
                role="row"
                aria-rowindex={index + 2}
                tabIndex={-1}
                className={classNames('absolute inset-x-0 top-0 flex h-11', index > 0 && 'border-border border-t')}
                style={{ transform: `translateY(${start}px)` }}
              >
                <div
                  role="rowheader"
                  aria-colindex={1}
                  tabIndex={-1}
                  title={skill.description === '' ? skill.name : `${skill.name}: ${skill.description}`}
                  className="sticky left-0 z-1 flex w-(--names) shrink-0 items-center border-border border-r bg-surface px-4"
                >
                  <span className="truncate font-medium text-13">{skill.name}</span>
                </div>
                <div role="presentation" className="relative">
                  {columns.map((column) => {
                    const role = roles[column.index];
                    if (role === undefined) return null;
                    return (
                      <Cell
                        key={role.id}
                        id={`${id}-${index}-${column.index}`}
                        label={`${skill.name} in ${role.name}`}
                        column={column.index}
                        start={column.start}
                        isOn={cells.has(role, skill.id)}
                        isChanging={cells.isChanging(role, skill.id)}
                        isActive={at.row === index && at.column === column.index}
                        isPale={!role.enabled}
                        mayEdit={mayEdit}
                        onPress={() => {
                          // The browser has focused the cell, which takes no keys.
                          grid.current?.focus({ preventScroll: true });
                          setActive({ row: index, column: column.index });
                          if (mayEdit) cells.toggle(role, skill.id);
                        }}
                      />
                    );
                  })}
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Rows and columns that a key moves by. */
const steps: Readonly<Record<string, readonly [number, number]>> = {
  ...{ ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], j: [1, 0], k: [-1, 0] },
  ...{ PageDown: [pageOfRows, 0], PageUp: [-pageOfRows, 0] },
  ...{ Home: [0, Number.NEGATIVE_INFINITY], End: [0, Number.POSITIVE_INFINITY] },
};

interface CellProps {
  readonly id: string;
  readonly label: string;
  readonly column: number;
  readonly start: number;
  readonly isOn: boolean;
  readonly isChanging: boolean;
  readonly isActive: boolean;
  /** Its role is disabled. */
  readonly isPale: boolean;
  readonly mayEdit: boolean;
  readonly onPress: () => void;
}

function Cell({ id, label, column, start, isOn, isChanging, isActive, isPale, mayEdit, onPress }: CellProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys for its active cell
    <div
      role="gridcell"
      aria-colindex={column + 2}
      tabIndex={-1}
      onClick={onPress}
      className={classNames(
        'absolute top-0 grid h-full place-items-center transition-colors',
        mayEdit && 'cursor-pointer hover:bg-hover',
        isActive && 'group-focus-visible:bg-hover group-focus-visible:outline-2 -outline-offset-2 outline-accent',
      )}
      style={{ width: columnWidth, transform: `translateX(${start}px)` }}
    >
      <span
        id={id}
        role="checkbox"
        aria-label={label}
        aria-checked={isOn}
        aria-busy={isChanging || undefined}
        aria-disabled={!mayEdit || undefined}
        tabIndex={-1}
        className={classNames(
          'grid size-4 place-items-center rounded-control border transition-colors',
          isOn ? 'border-solid bg-solid text-on-solid' : 'border-border-strong bg-surface',
          isPale && 'opacity-50',
        )}
      >
        {isOn && <Icon name="check" className="size-3" />}
      </span>
    </div>
  );
}

/** What a role has besides its skills, in a word. */
function noteOf({ enabled, readOnly, rules }: RoleRowFragment): string {
  const count = rules.length === 0 ? [] : [rules.length === 1 ? '1 rule' : `${rules.length} rules`];
  return [...(enabled ? [] : ['off']), ...(readOnly ? ['read-only'] : []), ...count].join(' · ');
}
