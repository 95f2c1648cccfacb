import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { GapChange } from '../../../contracts/explain-key.ts';
import { usePlace } from '../../app/workspace.ts';

interface GapRepairProps {
  readonly change: GapChange;
  /** Shows what can be changed of the key. */
  readonly onSettings: () => void;
}

/** Leads to the place that closes a gap. Those who may not close it can look there. */
export function GapRepair({ change, onSettings }: GapRepairProps) {
  const { mayEdit, mayConfigure } = usePlace();
  switch (change.kind) {
    case 'createKey':
      return <p className="text-quiet">Create another key.</p>;
    case 'extendKey':
      return <OfKey onSettings={onSettings}>Change its expiry</OfKey>;
    case 'giveRoles':
      return <OfKey onSettings={onSettings}>Give it roles</OfKey>;
    case 'giveRole':
      return <OfKey onSettings={onSettings}>{`Give it the role ${change.role.name}`}</OfKey>;
    case 'endSuspension':
      return <p className="text-quiet">An operator of the platform can end the suspension.</p>;
    case 'enableRole':
      return <OfRole id={change.role.id}>{mayEdit ? `Enable the role ${change.role.name}` : 'Show the role'}</OfRole>;
    case 'fillRole':
      return <OfRole id={change.role.id}>{mayEdit ? 'Put a skill into the role' : 'Show the role'}</OfRole>;
    case 'liftRule':
      return (
        <OfRole id={change.role.id}>
          {mayEdit ? `Change the rules of the role ${change.role.name}` : `Show the role ${change.role.name}`}
        </OfRole>
      );
    case 'useSkill':
      return <OfSkill id={change.skill.id}>{mayEdit ? 'Put it into a role' : 'Show the skill'}</OfSkill>;
    case 'repairSkill':
      return <OfSkill id={change.skill.id}>{mayEdit ? 'Repair the skill' : 'Show the skill'}</OfSkill>;
    case 'useTool':
      return <ToSkills>{mayEdit ? 'Put it into a skill' : 'Show the skills'}</ToSkills>;
    case 'enableServer':
      return (
        <OfServer id={change.mcpServer.id}>{mayConfigure ? 'Enable the MCP server' : 'Show the MCP server'}</OfServer>
      );
    case 'repairServer':
      return (
        <OfServer id={change.mcpServer.id}>{mayConfigure ? 'Repair the MCP server' : 'Show the MCP server'}</OfServer>
      );
  }
}

const linkClass = 'w-fit text-accent hover:underline';

interface OfObjectProps {
  readonly id: string;
  readonly children: ReactNode;
}

function OfKey({ onSettings, children }: { readonly onSettings: () => void; readonly children: ReactNode }) {
  return (
    <button type="button" onClick={onSettings} className={linkClass}>
      {children}
    </button>
  );
}

function OfRole({ id, children }: OfObjectProps) {
  const { workspace } = usePlace();
  return (
    <Link to="/w/$workspace/roles" params={{ workspace: workspace.id }} search={{ panel: id }} className={linkClass}>
      {children}
    </Link>
  );
}

function OfSkill({ id, children }: OfObjectProps) {
  const { workspace } = usePlace();
  const params = { workspace: workspace.id, skill: id };
  return (
    <Link to="/w/$workspace/skills/$skill" params={params} className={linkClass}>
      {children}
    </Link>
  );
}

function ToSkills({ children }: { readonly children: ReactNode }) {
  const { workspace } = usePlace();
  return (
    <Link to="/w/$workspace/skills" params={{ workspace: workspace.id }} className={linkClass}>
      {children}
    </Link>
  );
}

function OfServer({ id, children }: OfObjectProps) {
  const { workspace } = usePlace();
  const params = { workspace: workspace.id };
  return (
    <Link to="/w/$workspace/settings/mcp-servers" params={params} search={{ panel: id }} className={linkClass}>
      {children}
    </Link>
  );
}
