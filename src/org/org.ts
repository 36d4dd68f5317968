import { randomBytes } from 'node:crypto'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { ROLES } from '../http/principal.ts'

const NAME_LENGTH_MAX = 200

export const OrgNameSchema = Text(1, NAME_LENGTH_MAX)

/** What an organization is to the rest of the program. */
export interface Org {
  id: string
  name: string
  /** Goes into the hash of customer ids before they are stored; never leaves the server. */
  customerSalt: string
  createdAt: Instant
}

/** `webhookSecret` signs webhooks that are not integrations; null for callers below admin. */
export const OrganizationSchema = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    createdAt: InstantSchema,
    webhookSecret: Nullable(Type.String({ description: 'Null for callers below admin' })),
  },
  { $id: 'Organization' },
)

/** An organization as one of its members sees it in a list. */
export const MembershipSchema = Closed(
  { id: Type.String(), name: Type.String(), role: OneOf(ROLES) },
  { $id: 'Membership' },
)
export type Membership = Static<typeof MembershipSchema>

/** The user and organization that a request acts as. */
export const WhoamiSchema = Closed(
  {
    userId: Type.String(),
    email: Type.String(),
    name: Nullable(Type.String()),
    orgId: Type.String(),
    orgName: Type.String(),
    role: OneOf(ROLES),
    readOnly: Type.Boolean({ description: 'True when this credential can only read' }),
    via: OneOf(['key', 'session']),
    keyId: Nullable(Type.String({ description: 'Null for a session' })),
  },
  { $id: 'Whoami' },
)

/** A signing secret as Standard Webhooks spells it: https://github.com/standard-webhooks/standard-webhooks (spec). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** 256 random bits as text. */
export function newCustomerSalt(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * The name without white space at its ends. Fails with `invalid`, naming `field`, when nothing is left or it is longer
 * than `lengthMax` characters.
 */
export function checkName(name: string, field: string, lengthMax: number = NAME_LENGTH_MAX): string {
  const trimmed = name.trim()
  if (!trimmed) throw new AppError('invalid', `${field}: must not be blank`)
  if (trimmed.length > lengthMax) throw new AppError('invalid', `${field}: is longer than ${lengthMax} characters`)
  return trimmed
}
