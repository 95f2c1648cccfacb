import type { SkillQuery } from '../../graphql/generated/operations.ts';

/** A skill with all that its page shows. */
export type Skill = NonNullable<NonNullable<SkillQuery['workspace']>['skill']>;
