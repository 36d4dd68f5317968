import { TypeCompiler, ValueErrorType } from '@sinclair/typebox/compiler'
import { EVENT_STATUSES } from '../core/event.ts'
import { Closed, describeError, Int, OneOf, parser, type Static, Text, type TObject, Type } from '../core/schema.ts'

/** Limits for one request, as defined in section 8 of the contract. */
export const MAX_BODY_BYTES = 1024 * 1024
export const MAX_ITEMS = 1000
export const MAX_URL_LENGTH = 16 * 1024
/** Maximum number of errors listed in a response. All errors are counted. */
export const MAX_ERRORS = 20

const when = Type.Optional(Type.Number({ minimum: 0 }))
const duration = Type.Optional(Type.Number({ minimum: 0 }))
const itemId = Type.Optional(Text(1, 100))
const status = Type.Optional(OneOf(EVENT_STATUSES))

const EventItemSchema = Closed({
  id: itemId,
  ts: when,
  vendor: Text(1, 200),
  event: Type.Optional(Type.String({ maxLength: 200 })),
  account: Type.Optional(Type.String({ maxLength: 200 })),
  status,
  execMs: duration,
  durMs: duration,
  // Any object. Its values are flattened to strings later, so a schema for them is unnecessary.
  params: Type.Optional(Type.Object({})),
})
export type EventItem = Static<typeof EventItemSchema>

const HitItemSchema = Closed({
  id: itemId,
  ts: when,
  url: Text(1, MAX_URL_LENGTH),
  method: Type.Optional(Text(1, 20)),
  body: Type.Optional(Type.String()),
  bodyBase64: Type.Optional(Type.String()),
  contentEncoding: Type.Optional(Type.String({ maxLength: 50 })),
  type: Type.Optional(Type.String({ maxLength: 200 })),
  // An HTTP status if known, otherwise one of `EVENT_STATUSES`.
  status: Type.Optional(Type.Union([OneOf(EVENT_STATUSES), Int({ minimum: 0, maximum: 999 })])),
  durMs: duration,
  bytes: duration,
})
export type HitItem = Static<typeof HitItemSchema>

const TagItemSchema = Closed({
  id: itemId,
  ts: when,
  container: Text(1, 200),
  tagId: Type.Union([Text(1, 200), Type.Number()]),
  name: Type.Optional(Type.String({ maxLength: 500 })),
  event: Type.Optional(Type.String({ maxLength: 200 })),
  status,
  execMs: duration,
  // Same format as event parameters. Contains the tag data that the customer reports.
  params: Type.Optional(Type.Object({})),
})
export type TagItem = Static<typeof TagItemSchema>

const PAGE_VENDORS = 200
const PAGE_REQUESTS = 500

const PageVendorSchema = Closed({
  host: Text(1, 255),
  requests: Int({ minimum: 0, maximum: 100_000 }),
  durMs: Type.Optional(Type.Array(Type.Number({ minimum: 0 }), { maxItems: PAGE_REQUESTS })),
  blockMs: duration,
  bytes: duration,
})
export type PageVendorItem = Static<typeof PageVendorSchema>

const items = Type.Optional(Type.Array(Type.Unknown(), { maxItems: MAX_ITEMS }))

/**
 * The envelope of a batch. Items are validated later, one by one, so that an invalid item does not affect the others.
 */
const BatchSchema = Closed({
  token: Type.Optional(Type.String()),
  batchId: Type.Optional(Text(8, 64)),
  sentAt: when,
  env: Type.Optional(OneOf(['prod', 'dev'])),
  sessionId: Type.Optional(Text(1, 200)),
  customerId: Type.Optional(Text(1, 500)),
  version: Type.Optional(Type.Number()),
  // A lower rate would make the weight so large that all other counts become negligible.
  sampleRate: Type.Optional(Type.Number({ minimum: 0.000001, maximum: 1 })),
  page: Type.Optional(
    Closed({
      url: Type.Optional(Type.String({ maxLength: MAX_URL_LENGTH })),
      referrer: Type.Optional(Type.String({ maxLength: MAX_URL_LENGTH })),
      title: Type.Optional(Type.String({ maxLength: 4000 })),
    }),
  ),
  userAgent: Type.Optional(Type.String({ maxLength: 4000 })),
  // Any object. Only well-known fields of `navigator.userAgentData` and of the headers are read.
  clientHints: Type.Optional(Type.Object({})),
  language: Type.Optional(Type.String({ maxLength: 1000 })),
  events: items,
  hits: items,
  tags: items,
  pageStats: Type.Optional(
    Closed({
      ts: when,
      loaf: Type.Optional(Type.Boolean()),
      vendors: Type.Optional(Type.Array(Type.Unknown(), { maxItems: PAGE_VENDORS })),
    }),
  ),
})
export type Batch = Static<typeof BatchSchema>

/** Validates a batch. Throws `invalid`, with the name of the field. */
export const parseBatch: (value: unknown) => Batch = parser(BatchSchema)

/**
 * A valid item, or its error and reason. There are few distinct reasons, because reasons contain no names chosen by the
 * sender.
 */
export type Checked<T> = { item: T; error: null; reason: null } | { item: null; error: string; reason: string }

/**
 * Returns a validator for items.
 */
function checker<T extends TObject>(schema: T): (value: unknown) => Checked<Static<T>> {
  const check = TypeCompiler.Compile(schema)
  return (value) => {
    if (check.Check(value)) return { item: value, error: null, reason: null }
    const first = check.Errors(value).First()
    const error = first ? describeError(first) : 'does not match its schema'
    const isUnknownField = first?.type === ValueErrorType.ObjectAdditionalProperties
    return { item: null, error, reason: isUnknownField ? 'unknown field' : error }
  }
}

export const checkEvent = checker(EventItemSchema)
export const checkHit = checker(HitItemSchema)
export const checkTag = checker(TagItemSchema)
export const checkPageVendor = checker(PageVendorSchema)

/** The response to the sender, which is returned again if the sender repeats the batch. */
export interface BatchAnswer {
  accepted: number
  rejected: number
  /** Errors in rejected items, at most 20. */
  errors: ({ error: string } & ItemPlace)[]
  /** Changes to accepted items, at most 20. Absent if there are none. */
  notes?: ({ note: string } & ItemPlace)[]
}

/** Position of an item in a batch. */
interface ItemPlace {
  list: ItemList
  index: number
}

/** `pageStats` with index 0 refers to the whole object. */
export type ItemList = 'events' | 'hits' | 'tags' | 'pageStats' | 'pageStats.vendors'
