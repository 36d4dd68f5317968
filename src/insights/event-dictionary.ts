import { type Condition, isSegment, readParameter } from '../conditions/condition.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, OneOf, type Static, Type } from '../core/schema.ts'
import { VALUE_KINDS } from '../decoders/decoder.ts'
import { kindOf, meaningOf } from '../decoders/key-meaning.ts'
import { roundEvents } from '../signals/chart-point.ts'
import { EVENT_UNIT, unitSql } from '../warehouse/dialect.ts'
import { type Query, query } from '../warehouse/query.ts'
import { type DistinctEstimate, estimateDistinct } from './distinct-values.ts'
import { type Caller, insight, type Sources } from './insight.ts'
import { type Counted, compareTexts, cutCharacters, type MaskedList, maskedList, typeOfList } from './masked-values.ts'
import {
  type AskedRange,
  type DomainFilter,
  domainFields,
  hoursIn,
  percentOf,
  rangeFields,
  requestedDomains,
  textField,
  windowOf,
} from './query-params.ts'
import { type Mask, maskFor } from './response-mask.ts'
import {
  countInterval,
  intervalSchema,
  type PartSums,
  partSql,
  SamplingSchema,
  samplingOf,
  shareInterval,
  sumOf,
} from './sample-estimates.ts'
import {
  crowdedLists,
  exactLists,
  keysOf,
  type ListForm,
  type ListScope,
  listsAmong,
  sampledScope,
  scopeSql,
  type ValueList,
} from './value-lists.ts'

/** Default time range of both dictionaries, in hours. */
const DICTIONARY_HOURS = 24
const MAX_KEYS = 500
/** Above this number, distinct values are estimated instead of counted. */
const EXACT_VALUES = 1000
/**
 * A list counts as crowded when the newest part of the window has more distinct values than this. Such a list may
 * exceed `EXACT_VALUES` in the whole window.
 */
const CROWDED_SAMPLE = 0.75 * EXACT_VALUES
/**
 * A crowded list is certain to exceed `EXACT_VALUES` when its estimate is above this number. The margin is eight
 * standard deviations.
 */
const SURELY_MANY = 1.1 * EXACT_VALUES
const MAX_EXAMPLES = 5
const EXAMPLE_LENGTH = 100

/** Query fields of both dictionaries. */
export const scopeFields = {
  ...rangeFields(DICTIONARY_HOURS, MAX_HOURS.dictionary),
  ...domainFields,
  vendor: textField(200, 'Only this vendor, exact name'),
  event: textField(200, 'Only this event, exact name'),
  oneIn: Type.Optional(
    Int({
      minimum: 1,
      maximum: 2 ** 20,
      description: 'At most one in this many sessions is read, a power of two; the same ones in each response',
    }),
  ),
  segment: textField(
    1000,
    '`$field=value`: only events of this segment, such as `$browser=Safari`. Several are separated by `;` and must all match. ' +
      'Fields: `$browser $browserVersion $os $device $language $release $pageGroup $consent $visitor $country`. With nothing after ' +
      '`=`, only events without the property',
  ),
}

const Input = Closed({
  ...scopeFields,
  env: Type.Optional(OneOf(['prod', 'dev'] as const, { description: 'Default: both' })),
})

const KeySchema = Closed({
  key: Type.String(),
  type: OneOf(['number', 'boolean', 'text', 'mixed'] as const, {
    description: 'Type of at least 99 % of the values; `boolean` means `true` or `false`',
  }),
  presencePct: Type.Number({ description: 'Percentage of the vendor’s events in which the parameter is not blank' }),
  interval: intervalSchema('presencePct'),
  examples: Type.Array(Type.String(), { description: 'Most frequent values, truncated to 100 characters' }),
  cardinality: Int({
    description:
      'Number of distinct values in the events read; above 1,000, an estimate with ± 5 %. If sessions were sampled, there may be more',
  }),
  lastSeen: Type.Number({ ...InstantSchema, description: 'Most recent of the events read with the parameter' }),
  meaning: Type.Optional(
    Type.String({ description: 'Meaning of the key for the vendor. Absent for keys that are not documented' }),
  ),
  reference: Type.Optional(Type.String({ description: 'URL of the public page that describes the key' })),
  semanticType: Type.Optional(
    OneOf(VALUE_KINDS, {
      description:
        'Kind of the values, from the meaning or name of the key. An `identifier` may consist of digits; an `amount` is a sum of money. ' +
        'Absent if unknown',
    }),
  ),
})

const Output = Closed(
  {
    sampledEvents: Int({ description: 'Number of stored events read, unweighted' }),
    sampling: SamplingSchema,
    windowHours: Int(),
    vendors: Type.Array(
      Closed({
        vendor: Type.String(),
        events: Int({ description: 'Weighted count' }),
        interval: intervalSchema('events'),
        keys: Type.Array(KeySchema, { maxItems: MAX_KEYS, description: 'Sorted by presence, most frequent first' }),
      }),
      { description: 'Sorted by number of events, largest first' },
    ),
  },
  {
    $id: 'EventDictionary',
    examples: [
      {
        sampledEvents: 4200,
        sampling: null,
        windowHours: 24,
        vendors: [
          {
            vendor: 'Google Analytics 4',
            events: 4200,
            keys: [
              {
                key: 'currency',
                type: 'text',
                presencePct: 12.5,
                examples: ['EUR', 'USD'],
                cardinality: 2,
                lastSeen: 1_767_614_399_500,
                meaning: 'Currency of the event (ISO 4217)',
                reference: 'https://developers.google.com/analytics/devguides/collection/ga4/reference/events',
                semanticType: 'code',
              },
            ],
          },
        ],
      },
    ],
  },
)

/** Parameters of each vendor's events, with their values. */
export const eventDictionary = insight({
  id: 'getEventDictionary',
  summary: 'List the parameters of each vendor’s events and their values',
  description:
    'Counts are weighted and exclude library loads. Personal data is masked, and values that are equal ' +
    'when masked are merged. Large scopes are sampled by session.',
  path: '/events/dictionary',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: {
    row: Closed({ vendor: Type.String(), ...KeySchema.properties }),
    rowsOf: ({ vendors }) => vendors.flatMap(({ vendor, keys }) => keys.map((key) => ({ vendor, ...key }))),
  },
  async answer(sources, input, caller) {
    const window = dictionaryWindow(input, caller)
    const windowHours = hoursIn(window)
    const asked = scopeOf(sources, { ...input, window }, caller)
    if (!asked) return { sampledEvents: 0, sampling: null, windowHours, vendors: [] }
    const scope = await sampledScope(sources, asked, input.oneIn)
    const { oneIn = 1 } = scope
    const mask = maskFor(sources)
    const totals = await sources.history.query<VendorRow>(totalsQuery(scope, ['vendor']))
    const counted = await countedLists(sources, scope)
    const lists = Map.groupBy(counted, ({ list }) => mask(list.vendor, '$vendor'))
    const vendors = [...Map.groupBy(totals, ({ vendor }) => mask(vendor, '$vendor'))].map(([vendor, rows]) => {
      const weight = rows.reduce((sum, row) => sum + row.weight, 0)
      return {
        vendor,
        events: roundEvents(weight * oneIn),
        ...countInterval(sumOf(rows), oneIn),
        keys: shownKeys(vendor, lists.get(vendor) ?? [], { parts: rows, oneIn, mask }),
      }
    })
    return {
      sampledEvents: totals.reduce((sum, { events }) => sum + events, 0),
      sampling: samplingOf(oneIn, await sessionsIn(sources, scope), sumOf(totals)),
      windowHours,
      vendors: vendors.sort((a, b) => b.events - a.events || compareTexts(a.vendor, b.vendor)),
    }
  },
})

/** Returns the period of a request. Throws `invalid`. */
export const dictionaryWindow = (input: AskedRange, { now }: Caller): Query['window'] =>
  windowOf(input, { byDefault: DICTIONARY_HOURS, maximum: MAX_HOURS.dictionary, now })

/** Returns the scope of a request; null when no domain matches the filter. */
export function scopeOf(
  sources: Pick<Sources, 'db' | 'domains' | 'privacy'>,
  input: DomainFilter & { window: Query['window']; vendor?: string; event?: string; env?: string; segment?: string },
  { principal }: Pick<Caller, 'principal'>,
): ListScope | null {
  const { window, vendor, event, env } = input
  const segment = segmentOf(input.segment)
  const domainIds = requestedDomains(sources, principal.orgId, input).map(({ id }) => id)
  if (domainIds.length === 0) return null
  const mask = maskFor(sources)
  // Otherwise, the answer would show whether an event has a value that is hidden.
  if (segment.some(({ parameter, values: [value = ''] }) => mask(value, parameter) !== value)) return null
  const patterns = sources.privacy().patterns.map(({ pattern }) => pattern)
  return { orgId: principal.orgId, domainIds, vendor, event, env, segment, window, patterns }
}

/** Parses the query field `segment`. Throws `AppError('invalid')` if a part is not a segment and its value. */
function segmentOf(text: string | undefined): (Condition & { values: string[] })[] {
  if (text === undefined) return []
  return text.split(';').map((part) => {
    const [, parameter = '', value = ''] = /^([^=]*)=(.*)$/s.exec(part.trim()) ?? []
    const target = readParameter(parameter)
    if (target?.kind !== 'field' || !isSegment(target.field))
      throw new AppError('invalid', `query.segment: must be $field=value with a segment, such as $browser=Safari`)
    return { parameter, op: 'equals', values: [value] }
  })
}

/** Weights and numbers of events by part of the sample; one part if all events were read. */
interface VendorRow {
  vendor: string
  samplePart: number
  events: number
  weight: number
}

/** Returns the query for the number of all events, including those without parameters. */
export function totalsQuery(scope: ListScope, by: readonly string[]): Query {
  return query('insights.event-totals', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      sql: `SELECT ${by.map((column) => `${column}, `).join('')}CAST(${partSql(scope.oneIn ?? 1, binder)} AS INTEGER) AS samplePart,
          count(*) AS events, sum(weight) AS weight
        FROM events WHERE kind <> 'library' AND ${scopeSql(scope, binder)} GROUP BY ALL`,
    }),
  })
}

/** Returns the number of sessions read; 0 if all are read, because it is not needed then. */
export async function sessionsIn({ history }: Pick<Sources, 'history'>, scope: ListScope): Promise<number> {
  if ((scope.oneIn ?? 1) === 1) return 0
  const [row] = await history.query<{ sessions: number }>(sessionCountQuery(scope))
  return row?.sessions ?? 0
}

/** Returns the query for the number of sessions. An event without a session counts as one. */
export function sessionCountQuery(scope: ListScope): Query {
  return query('insights.session-count', {
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      sql: `SELECT count(DISTINCT ${unitSql(EVENT_UNIT)}) AS sessions
        FROM events WHERE kind <> 'library' AND ${scopeSql(scope, binder)}`,
    }),
  })
}

/** Number of keys to read. Higher than `MAX_KEYS`, because masking may merge names. */
const KEYS_READ = 2 * MAX_KEYS

const FORM: ListForm = {
  by: ['vendor'],
  crowdedFrom: CROWDED_SAMPLE,
  typed: true,
  parted: true,
  shown: MAX_EXAMPLES,
  maybePersonal: 2 * EXACT_VALUES,
  most: `QUALIFY row_number() OVER (PARTITION BY vendor ORDER BY weight DESC, key) <= ${KEYS_READ}`,
}

/**
 * Counts the values of every list except crowded ones. For crowded lists, the number of distinct values is estimated,
 * and the remaining facts are derived from the newest values.
 */
async function countedLists({ history }: Sources, scope: ListScope): Promise<Counted[]> {
  const crowded = await crowdedLists(history, scope, FORM)
  const lists = await exactLists(history, scope, FORM, keysOf(crowded))
  const estimates = await estimateDistinct(history, scope, keysOf(crowded))
  const many = crowded.flatMap((sample) => {
    const estimated = estimates.find((one) => isSame(one, sample))
    return estimated && estimated.different > SURELY_MANY ? [{ sample, estimated }] : []
  })
  const isMany = (of: Named) => many.some(({ sample }) => isSame(of, sample))
  // A key may have many values for one vendor and few for another.
  const keys = keysOf(estimates.filter((list) => !isMany(list) || (scope.oneIn ?? 1) > 1))
  const samples = many.map(({ sample }) => sample)
  const others =
    keys.length === 0 ? [] : await listsAmong(history, scope, FORM, { keys, crowded: samples, shown: false })
  const exact = [...lists, ...others.filter((list) => !isMany(list))].map((list) => ({ list, estimate: null }))
  const partsOf = (sample: ValueList) => others.find((list) => isSame(list, sample))?.parts
  return [...exact, ...many.map(({ sample, estimated }) => estimatedList(estimated, sample, partsOf(sample)))]
}

type Named = Pick<ValueList, 'vendor' | 'key'>
const isSame = (one: Named, other: Named) => one.vendor === other.vendor && one.key === other.key

function estimatedList(
  { weight, lastAt, different }: DistinctEstimate,
  sample: ValueList,
  parts: PartSums | undefined,
): Counted {
  const share = weight / sample.weight
  const types = { numbers: sample.numbers * share, booleans: sample.booleans * share }
  return { list: { ...sample, ...types, weight, lastAt, ...(parts && { parts }) }, estimate: different }
}

function shownKeys(
  vendor: string,
  counted: readonly Counted[],
  { parts, oneIn, mask }: { parts: PartSums; oneIn: number; mask: Mask },
): Static<typeof KeySchema>[] {
  const events = sumOf(parts).weight
  const keys = [...Map.groupBy(counted, ({ list }) => mask(list.key))].map(([key, same]) => ({
    ...keyOf(key, maskedList(same, mask), events),
    ...shareInterval(
      same.flatMap(({ list }) => list.parts ?? []),
      parts,
      oneIn,
    ),
    ...documentedOf(vendor, key),
  }))
  return keys.sort((a, b) => b.presencePct - a.presencePct || compareTexts(a.key, b.key)).slice(0, MAX_KEYS)
}

function keyOf(key: string, list: MaskedList, events: number): Omit<Static<typeof KeySchema>, 'interval'> {
  return {
    key,
    type: typeOfList(list),
    // Masking may merge two parameter names of the same event.
    presencePct: Math.min(100, percentOf(list.weight, events)),
    examples: list.values.slice(0, MAX_EXAMPLES).map(({ value }) => cutCharacters(value, EXAMPLE_LENGTH)),
    cardinality: list.different,
    lastSeen: list.lastAt,
  }
}

/** Returns what is known about a key from public references and from its name. */
export function documentedOf(
  vendor: string,
  key: string,
): Pick<Static<typeof KeySchema>, 'meaning' | 'reference' | 'semanticType'> {
  const { meaning, reference } = meaningOf(vendor, key) ?? {}
  const semanticType = kindOf(vendor, key)
  return { ...(meaning && { meaning }), ...(reference && { reference }), ...(semanticType && { semanticType }) }
}
