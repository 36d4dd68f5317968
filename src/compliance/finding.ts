import { PERSONAL_KINDS } from '../conditions/personal.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'

/** What is wrong with the consent of an event. Their findings have the key `$consent`. */
export const CONSENT_KINDS = [
  'no_signal',
  'not_set',
  'no_default',
  'granted_by_default',
  'after_denial',
  'update_rate',
] as const
export type ConsentKind = (typeof CONSENT_KINDS)[number]
export const CONSENT_KEY = '$consent'

/** Names that a pattern of an organization's own can't have. */
export const OUR_KINDS: readonly string[] = [...PERSONAL_KINDS, ...CONSENT_KINDS]

export const isConsentKind = (kind: string): kind is ConsentKind => CONSENT_KINDS.some((one) => one === kind)

const KIND_WORDS = new Map([
  ['email', 'an e-mail address'],
  ['phone', 'a phone number'],
  ['card', 'a card number'],
  ['iban', 'an IBAN'],
  ['no_signal', 'no consent signal'],
  ['not_set', 'consent not set'],
  ['no_default', 'no default for consent'],
  ['granted_by_default', 'consent granted by default'],
  ['after_denial', 'requests after consent was denied'],
  ['update_rate', 'fewer answers to the consent banner'],
])

/** The kind in words, `an e-mail address`; an own pattern by its name. */
export const kindInWords = (kind: string): string => KIND_WORDS.get(kind) ?? kind

/** What was decided about a finding. `watch`: nothing yet. */
export const ACTIONS = ['watch', 'file', 'ignore'] as const
export type Action = (typeof ACTIONS)[number]

export const FindingSchema = Closed(
  {
    vendor: Type.String(),
    key: Type.String({
      description: 'The parameter, or `$title $path $event $account $sessionId`; `$consent` of findings of consent',
    }),
    kind: Type.String({
      description: `Personal data: \`${PERSONAL_KINDS.join(' ')}\` or the name of an own pattern. Consent: \`${CONSENT_KINDS.join(' ')}\``,
    }),
    domainIds: Type.Array(Type.String(), { description: 'Where it was seen' }),
    count: Int({ description: 'Values, each with the weight of its event' }),
    example: Type.String({ description: 'One value, masked; of consent a sentence' }),
    firstSeenAt: InstantSchema,
    lastSeenAt: InstantSchema,
    action: OneOf(ACTIONS, { description: '`watch` until somebody decides otherwise' }),
    note: Nullable(Type.String()),
    issueId: Nullable(Type.String({ description: 'The issue that was filed last' })),
  },
  {
    $id: 'ComplianceFinding',
    examples: [
      {
        vendor: 'Google Analytics 4',
        key: 'ep.user_name',
        kind: 'email',
        domainIds: ['dom_01ke7jm2q0d3k8f1z6y5b7n4ta'],
        count: 42,
        example: 'j***@m***.com',
        firstSeenAt: 1_767_614_400_000,
        lastSeenAt: 1_767_616_200_000,
        action: 'watch',
        note: null,
        issueId: null,
      },
    ],
  },
)
export type Finding = Static<typeof FindingSchema>

/** What was seen of one finding in one domain: it makes the finding or is added to it. */
export interface Sighting {
  orgId: string
  domainId: string
  /** These three are masked by the store, the example too. */
  vendor: string
  key: string
  kind: string
  /** How many values, weighted; 0 where only the form was seen. */
  count: number
  /**
   * How many values have the form of the kind, weighted; left out: `count`. A finding of which less than half are
   * values of the kind is not shown: its key holds something else that looks alike.
   */
  formed?: number
  /** A value, masked or not, or a sentence; empty where only the form was seen. */
  example: string
  firstSeenAt: Instant
  lastSeenAt: Instant
}
