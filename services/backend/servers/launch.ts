/** How an MCP server is started, as owner and admin may see it: names of settings, never their values. */
export interface LaunchView {
  readonly command: string | null;
  readonly args: readonly string[] | null;
  readonly cwd: string | null;
  readonly url: string | null;
  readonly envNames: readonly string[];
  readonly headerNames: readonly string[];
  readonly fingerprint: string;
}
