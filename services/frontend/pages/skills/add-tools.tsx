import { useMemo, useState } from 'react';
import { isToolPattern, parseToolPattern, toolMatcher } from '../../../contracts/tool-pattern.ts';
import { usePlace } from '../../app/workspace.ts';
import { problemOf } from '../../components/field.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Requirement } from '../../components/form.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { PickList, type PickOption } from '../../components/pick-list.tsx';
import { useAction } from '../../components/use-action.ts';
import { useDelayed } from '../../components/use-delayed.ts';
import { foundToolsQuery, type ToolRef, toolsToAddQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { changeTools, isSameTool } from './change-skill.ts';
import type { Skill } from './shown-skill.ts';

/** Tools by a search over the workspace, by an MCP server, or by a pattern. */
export function AddTools({ skill, onClose }: { readonly skill: Skill; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [picked, setPicked] = useState<ReadonlyMap<string, ToolRef>>(new Map());
  const { options, note } = useOptions(text, skill);
  const add = useAction(async () => {
    const added = [...picked.values()];
    await changeTools({ workspace: workspace.id, id: skill.id }, (refs) => [
      ...refs.filter((ref) => !added.some((one) => isSameTool(one, ref))),
      ...added,
    ]);
    onClose();
  });
  const toggle = ({ id }: PickOption) => {
    const ref = options.find((option) => option.id === id)?.ref;
    const next = new Map(picked);
    if (!next.delete(id) && ref !== undefined) next.set(id, ref);
    setPicked(next);
  };
  const chosen = [...picked].filter(([id]) => !options.some((option) => option.id === id));
  return (
    <FormDialog title="Add tools" verb={picked.size > 1 ? `Add ${picked.size}` : 'Add'} action={add} onClose={onClose}>
      <FilterField label="Name of a tool, or a pattern" value={text} onText={setText} isWide />
      <p className="text-12 text-quiet">
        files/ shows the tools of the MCP server files. files/read_* follows all that match, now and later.
      </p>
      {chosen.length > 0 && (
        <p className="break-words text-13">
          {`Chosen: ${chosen.map(([, { mcpServer, tool }]) => `${mcpServer}/${tool}`).join(', ')}`}
        </p>
      )}
      {options.length > 0 && (
        <PickList label="Tools to add" options={options} picked={new Set(picked.keys())} onToggle={toggle} />
      )}
      <p role="status" className="text-13 text-quiet empty:hidden">
        {note}
      </p>
      <Requirement isMet={picked.size > 0}>Choose at least one tool.</Requirement>
    </FormDialog>
  );
}

interface ToolOption extends PickOption {
  readonly ref: ToolRef;
}

function useOptions(
  text: string,
  skill: Skill,
): { readonly options: readonly ToolOption[]; readonly note: string | null } {
  const { workspace } = usePlace();
  const typed = useDelayed(text.trim());
  const at = typed.indexOf('/');
  const [server, rest] = at === -1 ? [null, typed] : [typed.slice(0, at), typed.slice(at + 1)];
  const found = useOperation(foundToolsQuery, { workspace: workspace.id, search: typed || null }, server !== null);
  const own = useOperation(toolsToAddQuery, { workspace: workspace.id, name: server ?? '' }, !server);
  return useMemo(() => {
    const isNew = ({ ref }: ToolOption) =>
      !skill.tools.some((tool) => isSameTool(ref, { mcpServer: tool.mcpServer.name, tool: tool.originalName })) &&
      !skill.patterns.some(({ mcpServer, pattern }) => isSameTool(ref, { mcpServer: mcpServer.name, tool: pattern }));
    if (server === null) {
      const page = found.data?.workspace?.tools;
      if (page === undefined) return { options: [], note: found.error?.message ?? null };
      const options = page.nodes.map((tool) => optionOf(tool.mcpServer.name, tool)).filter(isNew);
      if (options.length === 0) return { options, note: 'No other tool has this in its name.' };
      return { options, note: page.pageInfo.next ? 'There are more. Type more of the name.' : null };
    }
    const mcpServer = own.data?.workspace?.mcpServer;
    if (own.data === null) return { options: [], note: own.error?.message ?? null };
    if (mcpServer === null || mcpServer === undefined || mcpServer.name !== server) {
      return { options: [], note: own.error?.message ?? `No MCP server has the name "${server.slice(0, 80)}".` };
    }
    const listed = mcpServer.tools.nodes.filter((tool) => tool.listed);
    const more = mcpServer.tools.pageInfo.next ? `These are of the first ${mcpServer.tools.nodes.length} tools.` : null;
    if (isToolPattern(rest))
      return patternOptions(
        server,
        rest,
        listed.map(({ originalName }) => originalName),
        more,
      );
    const options = mcpServer.tools.nodes
      .filter(({ originalName }) => originalName.toLowerCase().includes(rest.toLowerCase()))
      .map((tool) => optionOf(server, tool))
      .filter(isNew);
    return { options, note: options.length === 0 ? `"${server}" has no other tool with this name.` : more };
  }, [found.data, found.error, own.data, own.error, server, rest, skill]);
}

function optionOf(mcpServer: string, { originalName, listed }: { originalName: string; listed: boolean }): ToolOption {
  const ref = { mcpServer, tool: originalName };
  const about = listed ? mcpServer : `${mcpServer}, not offered`;
  return { id: `${mcpServer}/${originalName}`, title: originalName, about, ref };
}

function patternOptions(mcpServer: string, text: string, listed: readonly string[], more: string | null) {
  const problem = problemOf(parseToolPattern, text);
  if (problem !== null) return { options: [], note: problem };
  const tool = parseToolPattern(text);
  const matching = listed.filter(toolMatcher(tool));
  const title = `${mcpServer}/${tool}`;
  const about = `matches ${matching.length} now`;
  const names = matching.slice(0, namesMax).join(', ');
  const note = [names && `Matches ${names}${matching.length > namesMax ? ' and others' : ''}.`, more];
  return {
    options: [{ id: title, title, about, ref: { mcpServer, tool } }],
    note: note.filter(Boolean).join(' ') || null,
  };
}

const namesMax = 8;
