import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, PASSWORD_LENGTH } from '../contract/limits.ts'
import { ROLES } from '../contract/roles.ts'
import { DAY_MS } from '../core/clock.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** The second factor of a sign-in. */
export const CodeInput = Text(1, 50, {
  description: 'For users with a second factor: six digits from the authenticator app, or a recovery code',
})

/** Validity period of an invitation. */
export const INVITATION_MS = 7 * DAY_MS

/** `invited`: the user has not accepted the invitation yet and has no access. */
const MEMBER_STATUSES = ['active', 'invited'] as const

const EXAMPLE = {
  id: 'usr_01ke7jhv00b6d8n2r5v7y1j3fq',
  email: 'ben@example.com',
  name: null,
  role: 'member',
  status: 'invited',
  createdAt: 1_767_614_400_000,
  secondFactor: false,
}
const EXAMPLE_TOKEN = 'in_1xQ7mT0c2gS9yKf4Zb6Vn8Wd3Hj5Lp7Rt9Ua1Eo3Ci4'

export const MemberSchema = Closed(
  {
    id: Type.String({ description: 'Id of the user' }),
    email: Nullable(Type.String({ description: 'Null for callers below admin' })),
    name: Nullable(Type.String({ description: 'Null until the user sets it' })),
    role: OneOf(ROLES),
    status: OneOf(MEMBER_STATUSES),
    createdAt: InstantSchema,
    secondFactor: Nullable(
      Type.Boolean({ description: 'True when the user has set up a second factor. Null for callers below admin' }),
    ),
  },
  { $id: 'Member', examples: [EXAMPLE] },
)

/** A member or invited user. Includes the e-mail address, which only admins may see. */
export type MemberRecord = Static<typeof MemberSchema> & { email: string; secondFactor: boolean }

export const MemberInputSchema = Closed(
  { email: Text(1, MAX_EMAIL_LENGTH), role: OneOf(ROLES) },
  { $id: 'MemberInput', examples: [{ email: 'ben@example.com', role: 'member' }] },
)
export const MemberPatchSchema = Closed({ role: OneOf(ROLES) }, { $id: 'MemberPatch', examples: [{ role: 'admin' }] })

/** The response to an invitation. The only response that contains the token. */
export const InvitationSchema = Closed(
  {
    member: MemberSchema,
    inviteToken: Type.String({ description: 'Token for accepting the invitation, valid once within 7 days' }),
    inviteUrl: Type.String({ description: 'URL of the page for accepting the invitation' }),
  },
  {
    $id: 'Invitation',
    examples: [
      {
        member: EXAMPLE,
        inviteToken: EXAMPLE_TOKEN,
        inviteUrl: `https://tagwarden.example.com/invite#invite=${EXAMPLE_TOKEN}`,
      },
    ],
  },
)
export type Invitation = Static<typeof InvitationSchema>

export const AcceptanceSchema = Closed(
  {
    token: Text(1, 200),
    password: Type.String({
      minLength: 1,
      maxLength: PASSWORD_LENGTH.max,
      description: "The user's password; for a user without one, the password to set, with at least 10 characters",
    }),
    name: Type.Optional(Text(1, MAX_NAME_LENGTH)),
    code: Type.Optional(CodeInput),
  },
  {
    $id: 'InvitationAcceptance',
    examples: [{ token: EXAMPLE_TOKEN, password: 'a long pass phrase', name: 'Ben' }],
  },
)
export type Acceptance = Static<typeof AcceptanceSchema>

export const JoinSchema = Closed(
  { token: Text(1, 200) },
  { $id: 'InvitationToken', examples: [{ token: EXAMPLE_TOKEN }] },
)
