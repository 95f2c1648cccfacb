/** An action on an object, as the activity has it. */
export interface ActionOnObject {
  readonly action: string;
  readonly subjectKind: string;
  /** The object's name. */
  readonly subject: string;
}

/** `changed MCP server files` */
export function actionInWords({ action, subjectKind, subject }: ActionOnObject): string {
  return `${pastTense[action] ?? action} ${kindNames[subjectKind] ?? subjectKind} ${subject}`;
}

const pastTense: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  remove: 'removed',
  restart: 'restarted',
  revoke: 'revoked',
};

const kindNames: Readonly<Record<string, string>> = { mcpServer: 'MCP server' };
