import type { MemberRole } from './member-roles.ts';
import type { AgentScope } from './token.ts';

/** What the backend answers to `POST /account/PATH`, by path; null: status 204. The pages read it by the same list. */
export interface AccountAnswers {
  readonly link: SignedIn;
  readonly ways: SignInWays;
  readonly password: SignedIn;
  /** Options of a browser for a passkey (Web Authentication, `PublicKeyCredentialRequestOptionsJSON`). */
  readonly 'passkey/options': { readonly options: object };
  readonly passkey: SignedIn;
  readonly reset: null;
  /** The new address of the account. */
  readonly address: { readonly email: string };
  readonly refresh: null;
  readonly 'sign-out': null;
  readonly invitation: ShownInvitation;
  readonly 'invitation/accept': SignedIn;
}

/** The answer to a sign-in, besides its cookies. */
export interface SignedIn {
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
}

/** The ways in that the sign-in page offers. They are those of the platform, and tell nothing about a person. */
export interface SignInWays {
  readonly password: boolean;
  readonly passkeys: boolean;
  /** Whether mail is sent. Otherwise an operator makes the link for a person without a password. */
  readonly mail: boolean;
  readonly provider: { readonly name: string } | null;
}

export interface ShownInvitation {
  /** Its name. */
  readonly workspace: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly hasAccount: boolean;
}

/** As AccountAnswers, of `POST /connect/interaction/UID/PATH`, for the page of the consent. */
export interface InteractionAnswers {
  /** Of `POST /connect/interaction/UID`. */
  readonly '': AgentRequest;
  readonly roles: OfferedRoles;
  /** The address that hands the answer to the agent. */
  readonly consent: { readonly redirect: string };
  readonly refuse: { readonly redirect: string };
}

/** An agent that asks for access, and what the person may give it. */
export interface AgentRequest {
  readonly client: {
    readonly name: string;
    /** Where the answer goes: the only part of the request that the agent cannot invent. */
    readonly redirectHost: string;
    readonly isLocal: boolean;
  };
  /** What the person may allow, the widest first. */
  readonly scopes: readonly AgentScope[];
  readonly workspaces: readonly OfferedWorkspace[];
}

export interface OfferedWorkspace {
  readonly id: string;
  readonly name: string;
}

export interface OfferedRoles {
  /** By name. */
  readonly roles: readonly OfferedRole[];
  /** Whether the workspace has more roles than an agent may be limited to. */
  readonly hasMore: boolean;
}

export interface OfferedRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}
