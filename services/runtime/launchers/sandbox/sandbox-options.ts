/** What the operator configured for every sandbox. */
export interface SandboxOptions {
  /** Contains the homes of all MCP servers: each sees its own. */
  readonly workingDir: string;
  /** The platform's own paths, never visible inside. */
  readonly hiddenPaths: readonly string[];
  /** Paths that every sandbox may read. */
  readonly allowedPaths: readonly string[];
  /** Members may use folders below these as working directories. */
  readonly memberFolders: readonly string[];
}
