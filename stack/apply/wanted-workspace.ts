import type { Position } from '../settings/yaml-text.ts';

/** The content of the files for one workspace, completely resolved. */
export interface WantedWorkspace {
  readonly workspace: string;
  readonly mcpServers: readonly WantedMcpServer[];
  readonly skills: readonly WantedSkill[];
  readonly roles: readonly WantedRole[];
}

/** Its place in a file, for mistakes that are found later. */
export interface Place extends Position {
  readonly file: string;
}

export interface WantedMcpServer {
  readonly name: string;
  readonly place: Place;
  readonly launch: Launch;
  /** Null: the platform's own. */
  readonly runtime: string | null;
  readonly enabled: boolean;
}

/** As the backend's LaunchInput, secrets included. */
export type Launch =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string | null;
      readonly env: readonly NamedValue[];
    }
  | { readonly url: string; readonly headers: readonly NamedValue[] };

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface WantedSkill {
  readonly name: string;
  readonly place: Place;
  readonly description: string;
  readonly instructions: string;
  readonly tools: readonly ToolRef[];
}

export interface ToolRef {
  readonly mcpServer: string;
  readonly tool: string;
}

export interface WantedRole {
  readonly name: string;
  readonly place: Place;
  readonly description: string;
  readonly enabled: boolean;
  readonly skills: readonly string[];
}
