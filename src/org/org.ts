import { randomBytes } from 'node:crypto'
import { KEY_SCOPES } from '../contract/key-scopes.ts'
import { MAX_NAME_LENGTH } from '../contract/limits.ts'
import { ROLES } from '../contract/roles.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { loadPhoneLibrary } from '../core/load-phone-library.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

export const OrgNameSchema = Text(1, MAX_NAME_LENGTH)

/** An organization as used by other modules. */
export interface Org {
  id: string
  name: string
  /** Added to customer ids before they are hashed and stored. Never leaves the server. */
  customerSalt: string
  createdAt: Instant
}

const PiiPatternSchema = Closed({
  name: Text(1, 40, {
    description: 'Kind of its findings: 1 to 40 characters from a-z, 0-9 and _; must not be a built-in kind',
    examples: ['employee'],
  }),
  pattern: Text(1, 1000, { description: 'Pattern (RE2), matched anywhere in a value', examples: ['EMP-[0-9]{6}'] }),
})
export type PiiPattern = Static<typeof PiiPatternSchema>

/** `webhookSecret` signs webhooks outside integrations. Null for callers below admin. */
export const OrganizationSchema = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    createdAt: InstantSchema,
    currency: Nullable(Type.String({ description: 'Currency of impact values (ISO 4217); null: a unit of your own' })),
    webhookSecret: Nullable(
      Type.String({ description: 'Null for callers below admin and for keys without the scope `all`' }),
    ),
    phoneRegions: Type.Array(Type.String(), {
      description: 'Countries (ISO 3166-1 alpha-2) whose national phone numbers are detected',
    }),
    piiPatterns: Type.Array(PiiPatternSchema, {
      description: 'Patterns of personal data in addition to the built-in kinds',
    }),
    consentOptIn: Type.Boolean({
      description: 'True when visitors must opt in, so that consent granted by default is a finding',
    }),
    timezone: Type.String({
      description:
        'IANA time zone in which the days of calendars begin and end, and in which notifications, digests and summaries show times',
    }),
    requireSecondFactor: Type.Boolean({
      description: 'True when members need a second factor. Users of single sign-on use that of their provider',
    }),
  },
  {
    $id: 'Organization',
    examples: [
      {
        id: 'org_01ke7jhv00p5s9c2g4w8e6m1xr',
        name: 'Acme',
        createdAt: 1_767_614_400_000,
        currency: 'EUR',
        webhookSecret: null,
        phoneRegions: ['DE'],
        piiPatterns: [{ name: 'employee', pattern: 'EMP-[0-9]{6}' }],
        consentOptIn: false,
        timezone: 'Europe/Berlin',
        requireSecondFactor: false,
      },
    ],
  },
)
export type Organization = Static<typeof OrganizationSchema>

export const OrganizationInputSchema = Closed(
  { name: OrgNameSchema },
  { $id: 'OrganizationInput', examples: [{ name: 'Acme Europe' }] },
)

/** Omitted fields remain unchanged. */
export const OrganizationPatchSchema = Closed(
  {
    name: Type.Optional(OrgNameSchema),
    currency: Type.Optional(
      Nullable(
        Type.String({ maxLength: 3, description: 'ISO 4217 code in capital letters; null: a unit of your own' }),
      ),
    ),
    phoneRegions: Type.Optional(
      Type.Array(Type.String({ maxLength: 2 }), {
        maxItems: 50,
        description: 'ISO 3166-1 alpha-2 codes in capital letters',
      }),
    ),
    piiPatterns: Type.Optional(
      Type.Array(PiiPatternSchema, { maxItems: 20, description: 'Replaces the whole list; matches are masked' }),
    ),
    consentOptIn: Type.Optional(
      Type.Boolean({ description: 'True when visitors must opt in, so that consent granted by default is a finding' }),
    ),
    timezone: Type.Optional(
      Type.String({ maxLength: 100, description: 'IANA time zone, such as Europe/Berlin; UTC until it is set' }),
    ),
    requireSecondFactor: Type.Optional(
      Type.Boolean({
        description:
          'Members without a second factor, and their API keys, are rejected until they set one up. True requires that the ' +
          'caller has one (409)',
      }),
    ),
  },
  {
    $id: 'OrganizationPatch',
    examples: [{ phoneRegions: ['DE', 'AT', 'CH'], piiPatterns: [{ name: 'employee', pattern: 'EMP-[0-9]{6}' }] }],
  },
)

export type OrganizationPatch = Static<typeof OrganizationPatchSchema>

export const WebhookSecretSchema = Closed(
  { webhookSecret: Type.String() },
  { $id: 'WebhookSecret', examples: [{ webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }] },
)

/** An organization in a list of the user's memberships. */
export const MembershipSchema = Closed(
  { id: Type.String(), name: Type.String(), role: OneOf(ROLES) },
  { $id: 'Membership', examples: [{ id: 'org_01ke7jhv00p5s9c2g4w8e6m1xr', name: 'Acme', role: 'owner' }] },
)
export type Membership = Static<typeof MembershipSchema>

/** Fields that users may change about themselves. */
export const WhoamiPatchSchema = Closed(
  { name: Text(1, MAX_NAME_LENGTH) },
  { $id: 'WhoamiPatch', examples: [{ name: 'Ann Example' }] },
)

/** The user and organization on whose behalf a request is made. */
export const WhoamiSchema = Closed(
  {
    userId: Type.String(),
    email: Type.String(),
    name: Nullable(Type.String()),
    orgId: Type.String(),
    orgName: Type.String(),
    role: OneOf(ROLES),
    readOnly: Type.Boolean({ description: 'True when the credential is read-only' }),
    via: OneOf(['key', 'session']),
    keyId: Nullable(Type.String({ description: 'Null for a session' })),
    scopes: Type.Array(OneOf(KEY_SCOPES), {
      maxItems: KEY_SCOPES.length,
      description: 'Scopes of the key; `all` for a session',
    }),
    secondFactorDue: Type.Boolean({ description: 'True if only setting up a second factor is allowed' }),
  },
  {
    $id: 'Whoami',
    examples: [
      {
        userId: 'usr_01ke7jhv00t2y7h4f6q9a3w5kc',
        email: 'ann@example.com',
        name: 'Ann',
        orgId: 'org_01ke7jhv00p5s9c2g4w8e6m1xr',
        orgName: 'Acme',
        role: 'owner',
        readOnly: false,
        via: 'key',
        keyId: 'key_01ke7jj5c09m3r6e1b8z4x7p2d',
        scopes: ['all'],
        secondFactorDue: false,
      },
    ],
  },
)

/** Throws `invalid` for an unknown currency. */
export function checkCurrency(currency: string | null): void {
  if (currency === null || Intl.supportedValuesOf('currency').includes(currency)) return
  throw new AppError('invalid', 'currency: is not an ISO 4217 currency code such as EUR')
}

/** Throws `invalid`, naming the first region that has no known numbering plan. */
export function checkPhoneRegions(regions: readonly string[]): void {
  for (const [index, region] of regions.entries()) {
    if (loadPhoneLibrary().isSupportedCountry(region)) continue
    throw new AppError('invalid', `phoneRegions[${index}]: is not an ISO 3166-1 country code such as DE`)
  }
}

/**
 * Returns a signing secret in the format of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks
 * (spec).
 */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Returns 256 random bits as a string. */
export function newCustomerSalt(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Returns the trimmed name. Throws `invalid`, naming `field`, when the trimmed name is empty or longer than `lengthMax`
 * characters.
 */
export function checkName(name: string, field: string, lengthMax: number = MAX_NAME_LENGTH): string {
  const trimmed = name.trim()
  if (!trimmed) throw new AppError('invalid', `${field}: must not be blank`)
  if (trimmed.length > lengthMax) throw new AppError('invalid', `${field}: is longer than ${lengthMax} characters`)
  return trimmed
}
