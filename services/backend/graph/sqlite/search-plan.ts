import { typeNamed } from '../node-rules.ts';
import type { CheckedSelection } from '../selection-rules.ts';
import type { RowsPlan, Shortcut } from './read-plan.ts';
import { all, beginsWith, equal, quoted, type Sql } from './sql.ts';
import { wordTable } from './storage.ts';

/** The source of the nodes `n`, and further conditions on them. */
export interface Source {
  readonly from: Sql;
  readonly conditions: readonly Sql[];
}

/**
 * Nodes with a rare word are looked up and sorted. For a frequent word, the nodes are read in order until a page is full. With several
 * words such a walk may find nothing for long, so more candidates may be sorted.
 */
const candidatesMax = { oneWord: 2000, severalWords: 20_000 };

/** The plan of a selection with or without a search; `steps` makes it from a source of nodes. */
export function searched(
  selection: CheckedSelection,
  limit: number,
  steps: (source: Source) => readonly Sql[],
): RowsPlan {
  const { type, words, workspace } = selection;
  const walk = {
    from: { sql: `${quoted(type)} n`, values: [] },
    conditions: words.map((word) => has(type, 'n', word)),
  };
  // The index of words begins with the workspace, so without one it is of no use.
  const canLookUp = workspace !== null || !typeNamed(type).owned;
  return {
    steps: steps(walk),
    limit,
    straight: false,
    shortcuts: canLookUp ? longestFirst(words).map((word) => lookUp(selection, word, steps)) : [],
  };
}

/** The longest is likely to be the rarest. */
function longestFirst(words: readonly string[]): readonly string[] {
  return [...words].sort((one, other) => other.length - one.length);
}

function lookUp(
  { type, words, workspace }: CheckedSelection,
  word: string,
  steps: (source: Source) => readonly Sql[],
): Shortcut {
  const table = quoted(wordTable(type));
  const max = words.length === 1 ? candidatesMax.oneWord : candidatesMax.severalWords;
  const begins = all([equal('w.workspace', workspace ?? ''), beginsWith('w.word', word)]);
  const others = words.filter((other) => other !== word).map((other) => has(type, 'w', other));
  const found = all([begins, ...others]);
  return {
    probe: {
      sql: `select count(*) from (select 1 from ${table} w where ${begins.sql} limit ${max + 1}) limit ?`,
      values: begins.values,
    },
    candidatesMax: max,
    steps: steps({
      from: {
        // A cross join keeps its order: candidates first.
        sql: `(select distinct w.id from ${table} w where ${found.sql}) c cross join ${quoted(type)} n on n.id = c.id`,
        values: found.values,
      },
      conditions: [],
    }),
  };
}

function has(type: string, node: 'n' | 'w', word: string): Sql {
  const begins = beginsWith('h.word', word);
  return {
    sql: `exists (select 1 from ${quoted(wordTable(type))} h where h.id = ${node}.id and ${begins.sql})`,
    values: begins.values,
  };
}
