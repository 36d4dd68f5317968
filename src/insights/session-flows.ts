import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import type { History } from '../warehouse/warehouse.ts'
import { insight } from './insight.ts'
import { domainFields, domainsNamed, rangeFields, windowOf } from './query-params.ts'
import {
  addSums,
  countInterval,
  intervalSchema,
  oneInFor,
  type Sampling,
  SamplingSchema,
  sampleRate,
  samplingOf,
} from './sample-estimates.ts'
import {
  type FlowRow,
  type FlowScope,
  flowsQuery,
  MAX_NAMED_PATHS,
  pathsQuery,
  type SenderRow,
  sendersQuery,
} from './session-flow-query.ts'

/** Above this number of sessions, a sample is read. */
const MAX_SESSIONS = 200_000
/** Maximum number of vendor events listed per node. */
const MAX_FIRED = 20
/** Name for all unnamed paths of a step together. */
const OTHER_PATHS = '(other)'

const DEFAULT_HOURS = 72

const Input = Closed({
  ...rangeFields(DEFAULT_HOURS, MAX_HOURS.journeys),
  ...domainFields,
  maxSteps: Type.Optional(
    Int({ minimum: 2, maximum: 6, default: 4, description: 'Number of steps from the start of a session' }),
  ),
})

const NodeSchema = Closed({
  path: Type.String({
    description: `As in \`steps\`, without identifiers (\`*\`); \`${OTHER_PATHS}\`: all paths but the 20 most frequent`,
  }),
  sessions: Int(),
  interval: intervalSchema('sessions'),
  vendors: Type.Array(
    Closed({ vendor: Type.String(), event: Type.String(), count: Int(), interval: intervalSchema('count') }),
    { description: 'The 20 most frequent events during these stays, by count' },
  ),
})

const FlowsSchema = Closed(
  {
    sessionsSampled: Int({ description: 'Number of sessions read' }),
    sampledEvents: Int({ description: 'Number of stored events read. Events without a session are not read' }),
    sampling: SamplingSchema,
    steps: Type.Array(
      Closed({
        index: Int({ description: 'From 0' }),
        nodes: Type.Array(NodeSchema, { description: 'Sorted by sessions, largest first' }),
      }),
    ),
    links: Type.Array(
      Closed({
        fromStep: Int(),
        fromPath: Type.String(),
        toPath: Type.String(),
        sessions: Int(),
        interval: intervalSchema('sessions'),
      }),
      { description: 'Transitions from one step to the next, sorted by step, then by sessions' },
    ),
  },
  {
    $id: 'SessionFlows',
    examples: [
      {
        sessionsSampled: 1200,
        sampledEvents: 9400,
        sampling: null,
        steps: [
          {
            index: 0,
            nodes: [{ path: '/', sessions: 1200, vendors: [{ vendor: 'Meta Pixel', event: 'PageView', count: 1310 }] }],
          },
          { index: 1, nodes: [{ path: '/products/*', sessions: 700, vendors: [] }] },
        ],
        links: [{ fromStep: 0, fromPath: '/', toPath: '/products/*', sessions: 700 }],
      },
    ],
  },
)
export type Flows = Static<typeof FlowsSchema>

/** Paths of sessions from page to page, and the events on each page. */
export const sessionFlows = insight({
  id: 'getJourneyFlows',
  summary: 'Show how sessions move between pages and which events they send',
  description:
    'A step is a stay: consecutive events on one path. Sessions end after 30 minutes without an event; ' +
    'events without a path are excluded. Sessions and events are counted as received, not weighted by sampling on arrival. ' +
    'Large scopes are sampled by session.',
  path: '/journeys/flows',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: FlowsSchema,
  exports: {
    row: Closed({ step: Int(), ...NodeSchema.properties }),
    rowsOf: ({ steps }) => steps.flatMap(({ index, nodes }) => nodes.map((node) => ({ step: index, ...node }))),
  },
  async answer(sources, { maxSteps = 4, ...asked }, { principal: { orgId }, now }) {
    const { history, privacy } = sources
    const window = windowOf(asked, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.journeys, now })
    const named = domainsNamed(sources, orgId, asked)
    if (named?.length === 0) return flowsOf(NOTHING, privacy())
    const scope = { orgId, window, domainIds: named ?? [] }
    const oneIn = await sampleRate(sources, scope, (binder) => binder.among('domainId', scope.domainIds))
    return flowsOf(await readFlows({ ...scope, oneIn }, maxSteps, privacy(), history), privacy())
  },
})

interface FlowResult {
  rows: readonly FlowRow[]
  sampledEvents: number
  /** One in this many sessions was read. */
  oneIn: number
}

const NOTHING: FlowResult = { rows: [], sampledEvents: 0, oneIn: 1 }

/** Reads the flows. Above `MAX_SESSIONS`, the sessions of the scope are sampled further. */
async function readFlows(scope: FlowScope, maxSteps: number, privacy: Privacy, history: History): Promise<FlowResult> {
  const [[senders], names] = await Promise.all([
    history.query<SenderRow>(sendersQuery(scope)),
    history.query<{ name: string }>(pathsQuery(scope)),
  ])
  if (!senders || senders.senders === 0) return { ...NOTHING, oneIn: scope.oneIn }
  const isCut = names.length > MAX_NAMED_PATHS
  const masked = names.flatMap(({ name }) => {
    const shown = maskPersonal(name, '$path', privacy)
    return shown === name ? [] : [{ name, shown }]
  })
  let furtherOneIn = oneInFor(senders.senders, MAX_SESSIONS)
  for (;;) {
    const rows = await history.query<FlowRow>(flowsQuery(scope, { maxSteps, furtherOneIn, senders, masked, isCut }))
    const sessions = sessionsIn(rows)
    if (sessions <= MAX_SESSIONS * SAMPLING_SLACK) {
      const oneIn = scope.oneIn * furtherOneIn
      return { rows, sampledEvents: Math.round(senders.events / furtherOneIn), oneIn }
    }
    // There are still too many sessions, because senders had several sessions each.
    furtherOneIn *= oneInFor(sessions, MAX_SESSIONS)
  }
}

/** Tolerance for the sample size, which is rarely exact. */
const SAMPLING_SLACK = 1.02

const allSessions = (rows: readonly FlowRow[]) => rows.find(({ kind }) => kind === 'session')
const sessionsIn = (rows: readonly FlowRow[]) => allSessions(rows)?.count ?? 0

/** Returns the response for these rows, with masked names. */
function flowsOf({ rows, sampledEvents, oneIn }: FlowResult, privacy: Privacy): Flows {
  const pathOf = (path: string | null) => (path === null ? OTHER_PATHS : maskPersonal(path, '$path', privacy))
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const [nodes = [], links = [], fired = []] = (['node', 'link', 'fired'] as const).map((kind) => byKind.get(kind))
  const firedAt = Map.groupBy(fired, ({ step, path }) => `${step} ${path ?? ''}`)
  const steps = Map.groupBy(nodes, ({ step }) => step)
  return {
    sessionsSampled: sessionsIn(rows),
    sampledEvents,
    sampling: samplingIn(rows, oneIn),
    steps: [...steps]
      .sort(([a], [b]) => a - b)
      .map(([index, nodes]) => ({
        index,
        nodes: nodes
          .map(({ path, ...row }) => ({
            path: pathOf(path),
            ...sessionsOf(row, oneIn),
            vendors: vendorsOf(firedAt.get(`${index} ${path ?? ''}`) ?? [], oneIn, privacy),
          }))
          .sort((a, b) => isOther(a.path) - isOther(b.path) || b.sessions - a.sessions || compare(a.path, b.path)),
      })),
    links: links
      .map(({ step, path, toPath, ...row }) => ({
        fromStep: step,
        fromPath: pathOf(path),
        toPath: pathOf(toPath),
        ...sessionsOf(row, oneIn),
      }))
      .sort(
        (a, b) =>
          a.fromStep - b.fromStep ||
          b.sessions - a.sessions ||
          compare(a.fromPath, b.fromPath) ||
          compare(a.toPath, b.toPath),
      ),
  }
}

function samplingIn(rows: readonly FlowRow[], oneIn: number): Sampling {
  const { count = 0, squares = 0 } = allSessions(rows) ?? {}
  return samplingOf(oneIn, count, { weight: count, squares })
}

type Sums = Pick<FlowRow, 'count' | 'squares'>

const sessionsOf = ({ count, squares }: Sums, oneIn: number) => ({
  sessions: count * oneIn,
  ...countInterval({ weight: count, squares }, oneIn),
})

const isOther = (path: string) => (path === OTHER_PATHS ? 1 : 0)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

type Fired = Flows['steps'][number]['nodes'][number]['vendors']

/** Merges names that are equal after masking. */
function vendorsOf(rows: readonly FlowRow[], oneIn: number, privacy: Privacy): Fired {
  const named = rows.map(({ vendor, event, count, squares }) => ({
    vendor: maskPersonal(vendor ?? '', '$vendor', privacy),
    event: maskPersonal(event ?? '', '$event', privacy),
    weight: count,
    squares,
  }))
  return [...Map.groupBy(named, ({ vendor, event }) => `${vendor}\0${event}`).values()]
    .flatMap((same) => {
      const [first] = same
      if (!first) return []
      const sum = addSums(same)
      const { vendor, event } = first
      return [{ vendor, event, count: sum.weight * oneIn, ...countInterval(sum, oneIn) }]
    })
    .sort((a, b) => b.count - a.count || compare(a.vendor, b.vendor) || compare(a.event, b.event))
    .slice(0, MAX_FIRED)
}
