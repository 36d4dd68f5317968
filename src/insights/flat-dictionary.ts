import { Closed, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { roundEvents } from '../signals/chart-point.ts'
import { dictionaryWindow, scopeFields, scopeOf, sessionsIn, totalsQuery } from './event-dictionary.ts'
import { insight, type Sources } from './insight.ts'
import { compareTexts, cutCharacters, maskedList } from './masked-values.ts'
import { hoursIn } from './query-params.ts'
import { type Mask, maskFor } from './response-mask.ts'
import {
  addSums,
  countInterval,
  intervalSchema,
  type PartSums,
  SamplingSchema,
  samplingOf,
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
  type ValueList,
} from './value-lists.ts'

const MAX_ROWS = 5000
const MAX_SHOWN = 10
const VALUE_LENGTH = 200

const RowSchema = Closed({
  domain: Type.String({ description: 'Name of the domain' }),
  vendor: Type.String(),
  event: Type.String(),
  key: Type.String(),
  count: Int({ description: 'Weighted number of events in which the parameter is not blank' }),
  interval: intervalSchema('count'),
  values: Type.Array(Closed({ value: Type.String(), count: Int(), interval: intervalSchema('count') }), {
    maxItems: MAX_SHOWN,
    description: 'Most frequent first, truncated to 200 characters',
  }),
  lastSeen: Nullable(InstantSchema),
})

const Output = Closed(
  {
    sampledEvents: Int({ description: 'Number of stored events read, unweighted' }),
    sampling: SamplingSchema,
    windowHours: Int(),
    truncated: Type.Boolean({
      description: 'True when more rows exist; those with the largest counts are returned',
    }),
    rows: Type.Array(RowSchema, {
      maxItems: MAX_ROWS,
      description: 'Sorted by domain, vendor and event, then by count, largest first',
    }),
  },
  {
    $id: 'FlatDictionary',
    examples: [
      {
        sampledEvents: 4200,
        sampling: null,
        windowHours: 24,
        truncated: false,
        rows: [
          {
            domain: 'shop.example',
            vendor: 'Google Analytics 4',
            event: 'purchase',
            key: 'currency',
            count: 525,
            values: [{ value: 'EUR', count: 500 }],
            lastSeen: 1_767_614_399_500,
          },
        ],
      },
    ],
  },
)

/** One row per parameter of each event, vendor and domain. */
export const flatDictionary = insight({
  id: 'getFlatDictionary',
  summary: 'List the parameters of each event and their most frequent values as a table',
  description:
    'Counts are weighted and exclude library loads. Personal data is masked, and values that are equal ' +
    'when masked are merged. Large scopes are sampled by session.',
  path: '/events/dictionary/flat',
  isTool: false,
  refusals: ['notFound', 'unavailable'],
  input: Closed(scopeFields),
  output: Output,
  exports: 'rows',
  async answer(sources, input, caller) {
    const window = dictionaryWindow(input, caller)
    const windowHours = hoursIn(window)
    const asked = scopeOf(sources, { ...input, window }, caller)
    if (!asked) return { sampledEvents: 0, sampling: null, windowHours, truncated: false, rows: [] }
    const scope = await sampledScope(sources, asked, input.oneIn)
    const { oneIn = 1 } = scope
    const totals = await sources.history.query<PartSums[number] & { events: number }>(totalsQuery(scope, []))
    const lists = await countedLists(sources, scope)
    const names = namesOf(sources, scope.orgId)
    const rows = rowsOf(lists, { names, oneIn, mask: maskFor(sources) }).sort(largestFirst)
    return {
      sampledEvents: totals.reduce((sum, { events }) => sum + events, 0),
      sampling: samplingOf(oneIn, await sessionsIn(sources, scope), sumOf(totals)),
      windowHours,
      truncated: rows.length > MAX_ROWS,
      rows: rows.slice(0, MAX_ROWS).sort(inOrder),
    }
  },
})

type Row = Static<typeof RowSchema>

/** Number of rows to read. Higher than `MAX_ROWS`, because masking may merge names. */
const ROWS_READ = 2 * MAX_ROWS

const FORM: ListForm = {
  by: ['domainId', 'vendor', 'event'],
  crowdedFrom: 10 * MAX_SHOWN,
  typed: false,
  shown: MAX_SHOWN,
  maybePersonal: 20 * MAX_SHOWN,
  parts: { count: 4, events: 10_000 },
  most: `ORDER BY weight DESC, domainId, vendor, event, key LIMIT ${ROWS_READ}`,
}

async function countedLists({ history }: Sources, scope: ListScope): Promise<ValueList[]> {
  const crowded = await crowdedLists(history, scope, FORM)
  const keys = keysOf(crowded)
  const lists = await exactLists(history, scope, FORM, keys)
  return keys.length === 0
    ? lists
    : [...lists, ...(await listsAmong(history, scope, FORM, { keys, crowded, shown: true }))]
}

function namesOf({ db }: Sources, orgId: string): Map<string, string> {
  const rows = db
    .prepare<[string], { id: string; name: string }>('SELECT id, name FROM domain WHERE orgId = ?')
    .all(orgId)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

interface RowParts {
  /** Names of domains by id. */
  names: ReadonlyMap<string, string>
  oneIn: number
  mask: Mask
}

function rowsOf(lists: readonly ValueList[], { names, oneIn, mask }: RowParts): Row[] {
  const fields = ({ domainId = '', vendor, event = '', key }: ValueList) => [
    mask(names.get(domainId) ?? domainId),
    mask(vendor, '$vendor'),
    mask(event, '$event'),
    mask(key),
  ]
  return [...Map.groupBy(lists, (list) => JSON.stringify(fields(list)))].map(([place, same]) => {
    const [domain, vendor, event, key] = JSON.parse(place) as [string, string, string, string]
    const counted = same.map((list) => ({ list, estimate: null }))
    const { weight, values, lastAt } = maskedList(counted, mask)
    const shown = values.slice(0, MAX_SHOWN)
    return {
      domain,
      vendor,
      event,
      key,
      count: roundEvents(weight * oneIn),
      ...countInterval(addSums(same.map(({ weight, squares = 0 }) => ({ weight, squares }))), oneIn),
      lastSeen: lastAt,
      values: shown.map(({ value, ...sum }) => ({
        value: cutCharacters(value, VALUE_LENGTH),
        count: roundEvents(sum.weight * oneIn),
        ...countInterval(sum, oneIn),
      })),
    }
  })
}

const largestFirst = (a: Row, b: Row) => b.count - a.count || inOrder(a, b)

const inOrder = (a: Row, b: Row) =>
  compareTexts(a.domain, b.domain) ||
  compareTexts(a.vendor, b.vendor) ||
  compareTexts(a.event, b.event) ||
  b.count - a.count ||
  compareTexts(a.key, b.key)
