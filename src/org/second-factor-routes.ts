import { Closed, InstantSchema, Int, Nullable, Text, Type } from '../core/schema.ts'
import { OK, OkSchema, type Route, route } from '../http/route.ts'
import { sessionOf } from './change-password.ts'
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  type SecondFactorDeps,
  secondFactorOf,
} from './second-factor.ts'
import { notifyOfSecurityEvent, type SecurityMailDeps } from './security-mail.ts'
import { endSessionsOf } from './session.ts'
import { auditEverywhere, type PasswordSignInDeps } from './sign-in.ts'

const SecondFactorSchema = Closed(
  {
    enabled: Type.Boolean({ description: 'True when signing in requires a code' }),
    enabledAt: Nullable(InstantSchema),
    recoveryCodesLeft: Int({ minimum: 0, description: 'Number of unused recovery codes' }),
  },
  { $id: 'SecondFactor', examples: [{ enabled: true, enabledAt: 1_767_614_400_000, recoveryCodesLeft: 10 }] },
)

const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Codes that each replace one code of the app. Shown only in this response',
})

const NewSecondFactorSchema = Closed(
  {
    secret: Type.String({ description: 'Secret in base 32, to type into an authenticator app' }),
    uri: Type.String({ description: '`otpauth://` URI, to show as a QR code' }),
    recoveryCodes: RecoveryCodes,
  },
  {
    $id: 'NewSecondFactor',
    examples: [
      {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Tagwarden:ann%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Tagwarden&algorithm=SHA1&digits=6&period=30',
        recoveryCodes: ['3k8v-m2xq-0w7c-9hnd'],
      },
    ],
  },
)

const CodeSchema = Closed(
  { code: Text(1, 50, { description: 'Six digits from the authenticator app' }) },
  { $id: 'SecondFactorCode', examples: [{ code: '492039' }] },
)

const NewRecoveryCodesSchema = Closed(
  { recoveryCodes: RecoveryCodes },
  { $id: 'NewRecoveryCodes', examples: [{ recoveryCodes: ['3k8v-m2xq-0w7c-9hnd'] }] },
)

const EnabledSchema = Closed(
  { ok: Type.Boolean(), endedSessions: Int({ minimum: 0, description: 'Number of other sessions that were ended' }) },
  { $id: 'SecondFactorEnabled', examples: [{ ok: true, endedSessions: 1 }] },
)

interface SecondFactorRouteDeps extends SecondFactorDeps, SecurityMailDeps, Pick<PasswordSignInDeps, 'audit'> {}

const common = { path: '/v1/auth/totp', anyOrg: true, tag: 'Sign-in', refusals: ['conflict'] } as const

/** Returns the routes for the caller's second factor. They return `conflict` for API keys. */
export function secondFactorRoutes(parts: SecondFactorRouteDeps): Route[] {
  const { db, clock } = parts
  return [
    route({
      ...common,
      id: 'getSecondFactor',
      method: 'GET',
      access: 'read',
      summary: 'Get the state of your own second factor',
      answer: SecondFactorSchema,
      handle({ principal }) {
        sessionOf(principal)
        return secondFactorOf(db, principal.userId)
      },
    }),
    route({
      ...common,
      id: 'beginSecondFactor',
      method: 'POST',
      access: 'own',
      summary: 'Create the secret of a second factor (TOTP, RFC 6238) and recovery codes, which are shown only once',
      description: 'Signing in requires a code only after the first code has been confirmed with `PUT`.',
      answer: NewSecondFactorSchema,
      handle({ principal, origin: { address } }) {
        sessionOf(principal)
        const { userId, orgId } = principal
        const made = beginSecondFactor(parts, userId)
        auditEverywhere(parts, userId, { act: 'beginSecondFactor', userId, address }, orgId)
        return made
      },
    }),
    route({
      ...common,
      id: 'confirmSecondFactor',
      method: 'PUT',
      access: 'own',
      summary: 'Enable the second factor with a first code from the authenticator app; ends your other sessions',
      description:
        'The other sessions were opened without a second factor. API keys keep working. At most 10 wrong codes are accepted at ' +
        'once, and 10 per hour afterwards.',
      refusals: ['conflict', 'forbidden', 'rateLimited'],
      body: CodeSchema,
      answer: EnabledSchema,
      handle({ principal, body: { code }, origin }) {
        const except = sessionOf(principal)
        const { userId, orgId } = principal
        confirmSecondFactor(parts, userId, code)
        const endedSessions = endSessionsOf(db, clock, userId, { except })
        auditEverywhere(parts, userId, { act: 'confirmSecondFactor', userId, address: origin.address }, orgId)
        notifyOfSecurityEvent(parts, userId, { kind: 'secondFactorEnabled' }, origin)
        return { ok: true, endedSessions }
      },
    }),
    route({
      ...common,
      id: 'removeSecondFactor',
      method: 'DELETE',
      access: 'own',
      summary: 'Remove your second factor and its recovery codes',
      description: 'Organizations that require a second factor reject your requests until you set up another one.',
      answer: OkSchema,
      handle({ principal, origin }) {
        sessionOf(principal)
        const { userId, orgId } = principal
        // Also cancels an unfinished enrolment, of which nobody needs to be notified.
        const wasEnabled = removeSecondFactor(db, userId)
        auditEverywhere(parts, userId, { act: 'removeSecondFactor', userId, address: origin.address }, orgId)
        if (wasEnabled) notifyOfSecurityEvent(parts, userId, { kind: 'secondFactorRemoved' }, origin)
        return OK
      },
    }),
    route({
      ...common,
      id: 'replaceRecoveryCodes',
      method: 'POST',
      path: '/v1/auth/totp/recovery-codes',
      access: 'own',
      summary: 'Replace your recovery codes with new ones, which are shown only once',
      description:
        'The earlier recovery codes no longer work. `code` must be a code of the authenticator app that has not been used ' +
        'yet. Wrong codes count towards the same limit as at sign-in.',
      refusals: ['conflict', 'forbidden', 'rateLimited'],
      body: CodeSchema,
      answer: NewRecoveryCodesSchema,
      handle({ principal, body: { code }, origin }) {
        sessionOf(principal)
        const { userId, orgId } = principal
        const recoveryCodes = replaceRecoveryCodes(parts, userId, code)
        auditEverywhere(parts, userId, { act: 'replaceRecoveryCodes', userId, address: origin.address }, orgId)
        notifyOfSecurityEvent(parts, userId, { kind: 'recoveryCodesReplaced' }, origin)
        return { recoveryCodes }
      },
    }),
  ]
}
