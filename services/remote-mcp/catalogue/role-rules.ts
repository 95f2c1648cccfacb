import { toolMatcher } from '../../contracts/tool-pattern.ts';
import { describeRefusal, hasLimits, type RoleLimits, refusalOf, type ToolRule } from '../../contracts/tool-rules.ts';
import { giveWay } from '../../kit/give-way.ts';

/** What rules read of a tool of the catalogue. */
export interface TestedTool {
  readonly position: number;
  readonly isReadOnly: boolean;
  readonly originalNameText: string;
  readonly mcpServer: { readonly id: string; readonly name: string };
}

/** A tool with the name that rules compare. */
export interface RuledItem {
  readonly originalName: string;
  readonly item: TestedTool;
}

/**
 * The rules of a role, compared with all tools of the catalogue before an agent asks: a bit for each tool, because
 * every list and call reads it.
 */
export class RoleRules {
  readonly #limits: RoleLimits;
  readonly #refused: Uint8Array;

  private constructor(limits: RoleLimits, refused: Uint8Array) {
    this.#limits = limits;
    this.#refused = refused;
  }

  /** Null if the role has no rules. */
  static async of(
    limits: RoleLimits,
    { listed, count }: { readonly listed: ReadonlyMap<string, readonly RuledItem[]>; readonly count: number },
  ): Promise<RoleRules | null> {
    if (!hasLimits(limits)) return null;
    const refused = new Uint8Array(Math.ceil(count / 8));
    if (limits.rules.some(isAllow)) refused.fill(0xff);
    // A rule that denies comes last, because it wins.
    const ordered = [...limits.rules.filter(isAllow), ...limits.rules.filter((rule) => !isAllow(rule))];
    for (const { effect, mcpServer, pattern } of ordered) {
      await giveWay();
      const matches = toolMatcher(pattern);
      for (const { originalName, item } of listed.get(mcpServer) ?? []) {
        if (!matches(originalName)) continue;
        const [byte, bit] = placeOf(item);
        const present = refused[byte] ?? 0;
        refused[byte] = effect === 'deny' ? present | bit : present & ~bit;
      }
    }
    return new RoleRules(limits, refused);
  }

  letsPass(tool: TestedTool): boolean {
    const [byte, bit] = placeOf(tool);
    return ((this.#refused[byte] ?? 0xff) & bit) === 0 && (!this.#limits.readOnly || tool.isReadOnly);
  }

  /** The rule that refuses the tool, for a message. Null if none does. */
  refusal({ mcpServer: { id, name }, originalNameText, isReadOnly }: TestedTool): string | null {
    const originalName: unknown = JSON.parse(originalNameText);
    const refusal = refusalOf(this.#limits, { mcpServer: id, originalName: String(originalName), isReadOnly });
    return refusal === null ? null : describeRefusal(refusal, name);
  }
}

function isAllow({ effect }: ToolRule): boolean {
  return effect === 'allow';
}

function placeOf({ position }: TestedTool): readonly [byte: number, bit: number] {
  return [position >> 3, 1 << (position & 7)];
}
