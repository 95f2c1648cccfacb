import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { StatusDot } from '../../components/status-dot.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import type { ToolRef } from '../../graphql/generated/operations.ts';
import { changeTools, isSameTool, tellFailure } from './change-skill.ts';
import type { Skill } from './shown-skill.ts';
import { detailClass, Lines, lineClass, SkillSection } from './skill-section.tsx';

type Tool = Skill['tools'][number];

/** More are shown when a person wants them. */
const shownFirst = 50;

/** The tools that the skill names, those that it follows by a pattern, and their MCP servers. */
export function SkillTools({ skill, onAdd }: { readonly skill: Skill; readonly onAdd: () => void }) {
  const { mayEdit } = usePlace();
  const [isWhole, setWhole] = useState(false);
  const named = new Set(skill.namedTools.map(({ id }) => id));
  const shown = isWhole ? skill.tools : skill.tools.slice(0, shownFirst);
  const add = mayEdit && (
    <Button isSmall icon="plus" onClick={onAdd}>
      Add tools
    </Button>
  );
  return (
    <SkillSection title="Tools" about={skill.toolCount > 0 ? String(skill.toolCount) : undefined} action={add}>
      {skill.tools.length === 0 && skill.patterns.length === 0 && (
        <p className="text-13 text-quiet">There are none. The skill gives an agent its instructions alone.</p>
      )}
      {skill.patterns.length > 0 && (
        <Lines label="Patterns">
          {skill.patterns.map(({ pattern, mcpServer }) => (
            <li key={`${mcpServer.id}/${pattern}`} className={lineClass}>
              <code className="min-w-0 flex-1 break-all">{`${mcpServer.name}/${pattern}`}</code>
              <span className={`text-quiet ${detailClass}`}>follows every tool that matches</span>
              {mayEdit && <Remove skill={skill} tool={{ mcpServer: mcpServer.name, tool: pattern }} />}
            </li>
          ))}
        </Lines>
      )}
      {shown.length > 0 && (
        <Lines label="Tools">
          {shown.map((tool) => (
            <li key={tool.id} className={lineClass}>
              <code className="min-w-0 flex-1 break-all">{tool.originalName}</code>
              <span className={detailClass}>
                <ServerLink tool={tool} />
                <span className="tablet:w-28">
                  <ToolState tool={tool} />
                </span>
              </span>
              {mayEdit &&
                (named.has(tool.id) ? (
                  <Remove skill={skill} tool={{ mcpServer: tool.mcpServer.name, tool: tool.originalName }} />
                ) : (
                  <abbr title="It matches a pattern." className="w-11 text-center text-quiet no-underline tablet:w-8">
                    *
                  </abbr>
                ))}
            </li>
          ))}
        </Lines>
      )}
      {shown.length < skill.tools.length && (
        <div>
          <Button isSmall onClick={() => setWhole(true)}>{`Show all ${skill.tools.length} tools`}</Button>
        </div>
      )}
    </SkillSection>
  );
}

function ServerLink({ tool: { mcpServer } }: { readonly tool: Tool }) {
  const { workspace } = usePlace();
  return (
    <Link
      to="/w/$workspace/settings/mcp-servers"
      params={{ workspace: workspace.id }}
      search={{ panel: mcpServer.id }}
      title="Open the MCP server"
      className="min-w-0 truncate text-quiet hover:text-text hover:underline tablet:w-36"
    >
      {mcpServer.name}
    </Link>
  );
}

function ToolState({ tool: { listed, mcpServer } }: { readonly tool: Tool }) {
  if (mcpServer.status !== 'Connected') return <StatusDot tone="bad">{mcpServer.status}</StatusDot>;
  return listed ? <StatusDot tone="good">offered</StatusDot> : <StatusDot tone="warn">not offered</StatusDot>;
}

function Remove({ skill, tool }: { readonly skill: Skill; readonly tool: ToolRef }) {
  const { workspace } = usePlace();
  const at = { workspace: workspace.id, id: skill.id };
  const name = `${tool.mcpServer}/${tool.tool}`;
  const remove = useAction(async () => {
    await changeTools(at, (refs) => refs.filter((ref) => !isSameTool(ref, tool)));
    showToast(`${skill.name} is without ${name}.`, () => {
      changeTools(at, (refs) => [...refs.filter((ref) => !isSameTool(ref, tool)), tool]).catch(tellFailure);
    });
  });
  return (
    <>
      <ErrorLine error={remove.error} />
      <IconButton label={`Remove ${name}`} icon="close" onClick={remove.run} aria-busy={remove.isBusy} />
    </>
  );
}
