import type { Column } from '../../components/data-table.tsx';
import { type OwnKey, rolesInWords } from './own-keys.ts';

/** What a key or a connected agent may use, in the list of either. */
export const rolesColumn: Column<OwnKey> = {
  title: 'Roles',
  cell: (row) => (
    <span className="text-quiet" title={rolesInWords(row)}>
      {rolesInWords(row)}
    </span>
  ),
  sortBy: rolesInWords,
};
