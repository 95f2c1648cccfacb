import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTestCode, type Violation } from './violation.ts';

const pages = 'services/frontend/{app,pages,components}/**/*.{ts,tsx,css}';
const tokens = 'services/frontend/app/tokens.css';

/** A colour, or a length in a unit that a token has. Parts of the screen (dvh, %) are no sizes. */
const literal =
  /#(?:[0-9a-f]{6}|[0-9a-f]{3,4}|[0-9a-f]{8})(?![\w-])|\b(?:rgba?|hsla?|oklch|oklab|lab|lch)\(|(?<![\w.-])\d+(?:\.\d+)?(?:px|rem|em)\b/i;

/** Sizes and colours outside of the file of tokens. */
export function literalViolations(root: string): Violation[] {
  const paths = globSync(pages, { cwd: root }).filter((path) => path !== tokens && !isTestCode(path));
  return paths.sort().flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const [found] = literal.exec(line) ?? [];
        const message = `holds the literal "${found}"; sizes and colours are tokens`;
        return found === undefined ? [] : [{ path, line: index + 1, message }];
      }),
  );
}
