import { PERSONAL_KINDS } from '../conditions/personal-data.ts'
import { FINDING_ACTIONS } from '../contract/statuses.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'

/** Kinds of consent findings. Their key is `$consent`. */
const CONSENT_KINDS = [
  'no_signal',
  'not_set',
  'no_default',
  'granted_by_default',
  'after_denial',
  'update_rate',
] as const
export type ConsentKind = (typeof CONSENT_KINDS)[number]
export const CONSENT_KEY = '$consent'

/** Built-in kinds. Custom patterns can't use these names. */
export const BUILT_IN_KINDS: readonly string[] = [...PERSONAL_KINDS, ...CONSENT_KINDS]

export const isConsentKind = (kind: string): kind is ConsentKind => CONSENT_KINDS.some((one) => one === kind)

const KIND_WORDS = new Map([
  ['email', 'an e-mail address'],
  ['phone', 'a phone number'],
  ['card', 'a card number'],
  ['iban', 'an IBAN'],
  ['no_signal', 'no consent signal'],
  ['not_set', 'consent not set'],
  ['no_default', 'no consent default'],
  ['granted_by_default', 'consent granted by default'],
  ['after_denial', 'requests after consent was denied'],
  ['update_rate', 'fewer responses to the consent banner'],
])

/** Returns the description of a kind, such as `an e-mail address`. For a custom pattern, returns its name. */
export const kindInWords = (kind: string): string => KIND_WORDS.get(kind) ?? kind

/** Maximum number of pages in a finding. */
export const MAX_LISTED_PAGES = 5

export const FindingSchema = Closed(
  {
    vendor: Type.String(),
    key: Type.String({
      description: 'The parameter, or `$title $path $event $account $sessionId`; `$consent` for consent findings',
    }),
    kind: Type.String({
      description: `Personal data: \`${PERSONAL_KINDS.join(' ')}\` or the name of a custom pattern. Consent: \`${CONSENT_KINDS.join(' ')}\``,
    }),
    domainIds: Type.Array(Type.String(), { description: 'Domains in which the finding was seen' }),
    pages: Type.Optional(
      Type.Array(Type.String(), {
        description: `Pages on which the finding was seen, as paths with ids replaced, at most ${MAX_LISTED_PAGES}, most recent first. A value that occurs on many pages is recorded for some of them.`,
      }),
    ),
    count: Int({ description: 'Number of values, weighted by event sampling' }),
    example: Type.String({ description: 'A masked value; for consent findings, a sentence' }),
    firstSeenAt: InstantSchema,
    lastSeenAt: InstantSchema,
    action: OneOf(FINDING_ACTIONS, { description: '`watch` until it is filed or ignored' }),
    note: Nullable(Type.String()),
    issueId: Nullable(Type.String({ description: 'Issue filed most recently; null when none was filed' })),
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

/** Occurrences of one finding in one domain. They are added to the finding, which is created if necessary. */
export interface Sighting {
  orgId: string
  domainId: string
  /** Masked when the sighting is stored, like `key` and `example`. */
  vendor: string
  key: string
  kind: string
  /**
   * Weighted number of real values, such as card numbers with a valid checksum; 0 when all values only had the format
   * of the kind.
   */
  count: number
  /**
   * Weighted number of values with the format of the kind. Default: `count`. A finding is hidden when less than half of
   * these values are real, because its key then contains other values in a similar format.
   */
  formed?: number
  /** Paths of pages on which it was seen. Default: none. */
  paths?: readonly (string | null)[]
  /** A value, masked or unmasked, or a sentence; empty when all values only had the format of the kind. */
  example: string
  firstSeenAt: Instant
  lastSeenAt: Instant
}
