import { MAX_EMAIL_LENGTH, PASSWORD_LENGTH } from '../contract/limits.ts'
import { Closed, Nullable, Text, Type } from '../core/schema.ts'
import { OK, OkSchema, publicRoute, type Route, route } from '../http/route.ts'
import { changePassword, sessionOf } from './change-password.ts'
import { canSetUp, type SetUpDeps, SetUpInputSchema, setUp } from './first-setup.ts'
import { CodeInput } from './member.ts'
import { forgotPassword, type ResetDeps, resetPassword } from './password-reset.ts'
import { secondFactorRoutes } from './second-factor-routes.ts'
import { EndedSchema, endSession, endSessionUrlOf, SignedInAnewSchema, SignedInSchema } from './session.ts'
import { type SessionRouteDeps, sessionRoutes } from './session-routes.ts'
import { auditEverywhere, signIn } from './sign-in.ts'

const CredentialsSchema = Closed(
  {
    email: Text(1, MAX_EMAIL_LENGTH),
    password: Text(1, PASSWORD_LENGTH.max),
    code: Type.Optional(CodeInput),
  },
  { $id: 'Credentials', examples: [{ email: 'ann@example.com', password: 'correct horse battery staple' }] },
)

const PasswordChangeSchema = Closed(
  {
    currentPassword: Text(1, PASSWORD_LENGTH.max),
    newPassword: Type.String({ maxLength: PASSWORD_LENGTH.max, description: 'At least 10 characters' }),
  },
  {
    $id: 'PasswordChange',
    examples: [{ currentPassword: 'correct horse battery staple', newPassword: 'another horse, another staple' }],
  },
)

const ForgotPasswordSchema = Closed(
  { email: Text(1, MAX_EMAIL_LENGTH) },
  { $id: 'ForgotPassword', examples: [{ email: 'ann@example.com' }] },
)

const PasswordResetSchema = Closed(
  {
    token: Text(1, 200, { description: 'Token in the e-mailed link' }),
    password: Type.String({ maxLength: PASSWORD_LENGTH.max, description: 'At least 10 characters' }),
    code: Type.Optional(CodeInput),
  },
  {
    $id: 'PasswordReset',
    examples: [{ token: 'rs_3cV8yQ1mKx7Tz0Wb5Nf2Hd9Js4Lp6Rg1Ua8Eo3Ci7Yk', password: 'another horse, another staple' }],
  },
)

const SignInMethodsSchema = Closed(
  {
    password: Type.Boolean(),
    setUp: Type.Boolean({ description: 'True while there is no owner and the setup link works' }),
    oidc: Nullable(Closed({ name: Type.String({ description: "Display name of the company's single sign-on" }) })),
  },
  { $id: 'SignInMethods' },
)

const SignedOutSchema = Closed(
  {
    ok: Type.Boolean(),
    endSessionUrl: Nullable(
      Type.String({
        description:
          'URL where the browser also ends its session at the single sign-on provider; null for other sessions, and when ' +
          'the provider has no such URL',
      }),
    ),
  },
  { $id: 'SignedOut', examples: [{ ok: true, endSessionUrl: null }] },
)

export interface AuthRouteDeps extends SetUpDeps, SessionRouteDeps {
  /** Returns the display name of single sign-on; null when it is not configured. */
  oidc(): { name: string } | null
}

const TAG = 'Sign-in'
const SECOND_FACTOR =
  'Users with a second factor receive 401 with the header `X-Second-Factor: totp` until they also send a valid `code`, ' +
  'which works once.'

/** Returns the routes for resetting a forgotten password. */
export function resetRoutes(parts: ResetDeps): Route[] {
  return [
    publicRoute({
      id: 'forgotPassword',
      method: 'POST',
      path: '/v1/auth/forgot',
      tag: TAG,
      summary: 'E-mail a password reset link, if a mail server is configured',
      description:
        'The response does not reveal whether the address is known. The link works once, within an hour, and replaces earlier ' +
        'links. Users who sign in only through single sign-on receive no link.',
      refusals: ['rateLimited'],
      body: ForgotPasswordSchema,
      answer: OkSchema,
      handle({ body: { email }, origin }) {
        forgotPassword(parts, email, origin)
        return OK
      },
    }),
    publicRoute({
      id: 'resetPassword',
      method: 'POST',
      path: '/v1/auth/reset',
      asynchronous: true,
      tag: TAG,
      summary: 'Set a new password with the token of a password reset link, and open a session',
      refusals: ['unauthorized', 'forbidden', 'rateLimited', 'unavailable'],
      description: `Ends all other sessions of the user and revokes all existing API keys of the user. ${SECOND_FACTOR}`,
      body: PasswordResetSchema,
      answer: SignedInAnewSchema,
      handle: ({ body, origin }) => resetPassword(parts, body, origin),
    }),
  ]
}

/** Returns the routes for setup, sign-in, sign-out, and the caller's password and sessions. */
export function authRoutes(parts: AuthRouteDeps): Route[] {
  return [...publicRoutes(parts), ...ownRoutes(parts), ...sessionRoutes(parts), ...secondFactorRoutes(parts)]
}

function publicRoutes(parts: AuthRouteDeps): Route[] {
  return [
    publicRoute({
      id: 'listSignInMethods',
      method: 'GET',
      path: '/v1/auth/methods',
      tag: TAG,
      summary: 'List the available ways to sign in',
      answer: SignInMethodsSchema,
      handle: () => ({ password: true, setUp: canSetUp(parts), oidc: parts.oidc() }),
    }),
    publicRoute({
      id: 'setUp',
      method: 'POST',
      path: '/v1/auth/setup',
      tag: TAG,
      summary: 'Create the first organization and its owner with the setup token shown at startup',
      refusals: ['unauthorized', 'conflict', 'rateLimited', 'unavailable'],
      body: SetUpInputSchema,
      status: 201,
      answer: SignedInSchema,
      handle: ({ body, origin }) => setUp(parts, body, origin),
    }),
    publicRoute({
      id: 'signIn',
      method: 'POST',
      path: '/v1/auth/login',
      tag: TAG,
      summary: 'Sign in with a password',
      description: SECOND_FACTOR,
      refusals: ['unauthorized', 'forbidden', 'rateLimited', 'unavailable'],
      body: CredentialsSchema,
      answer: SignedInSchema,
      handle: ({ body, origin }) => signIn(parts, body, origin),
    }),
  ]
}

function ownRoutes(parts: AuthRouteDeps): Route[] {
  return [
    route({
      id: 'signOut',
      method: 'POST',
      path: '/v1/auth/logout',
      access: 'own',
      anyOrg: true,
      tag: TAG,
      summary: 'Sign out: end the current session',
      description:
        'After single sign-on, the browser continues to `endSessionUrl`, which ends its session at the ' +
        'provider and redirects back to the start page.',
      refusals: ['conflict'],
      answer: SignedOutSchema,
      handle({ principal, origin: { address } }) {
        const { userId, orgId } = principal
        const sessionId = sessionOf(principal)
        const endSessionUrl = endSessionUrlOf(parts.db, parts.box, sessionId)
        endSession(parts.db, sessionId)
        auditEverywhere(parts, userId, { act: 'signOut', userId, address }, orgId)
        return { ok: true, endSessionUrl }
      },
    }),
    route({
      id: 'changePassword',
      method: 'PUT',
      path: '/v1/auth/password',
      access: 'own',
      anyOrg: true,
      asynchronous: true,
      tag: TAG,
      summary: 'Change your own password; ends all your other sessions and revokes all your API keys',
      refusals: ['forbidden', 'conflict', 'rateLimited', 'unavailable'],
      body: PasswordChangeSchema,
      answer: EndedSchema,
      handle: ({ principal, body, origin }) => changePassword(parts, body, { principal, origin }),
    }),
  ]
}
