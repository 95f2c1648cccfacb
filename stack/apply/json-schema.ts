import { z } from 'zod';
import { applyFileSchema } from './file-schema.ts';

/** The JSON Schema of an apply file, for editors. It is made of the rules that `svc apply` checks. */
export function applyFileJsonSchema(): object {
  const noSkill = { source: '', name: '', description: '', instructions: '', tools: undefined, files: [], leftOut: [] };
  const nothing = { folder: '/', env: {}, read: () => '', readSkill: () => noSkill };
  const schema = z.toJSONSchema(applyFileSchema(nothing), {
    io: 'input',
    // The version that editors know.
    target: 'draft-7',
    // Some rules have no form in JSON Schema. `svc apply` checks them.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
    },
  });
  return { ...schema, title: 'A file for svc apply' };
}
